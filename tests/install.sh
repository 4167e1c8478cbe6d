#!/bin/sh
# Installs the system packages that the whole suite needs. Without root it says which are missing, with exit status 3.
# `--dry-run` installs nothing.
set -eu

as="no"
if command -v apt-get >/dev/null; then
    if [ "$(id -u)" = 0 ]; then as=""; elif sudo -n true 2>/dev/null; then as="sudo"; fi
fi

install() {
    echo "Installing $* …"
    export DEBIAN_FRONTEND=noninteractive
    $as timeout 60 apt-get update -qq && $as apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

missing=""
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
    missing="$missing chromium"
command -v sqlite3 >/dev/null || missing="$missing sqlite3"
command -v redis-server >/dev/null || missing="$missing redis-server"
command -v postgres >/dev/null || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing="$missing postgresql"

if [ "$as" = "no" ] && [ -n "$missing" ]; then
    echo "NOT RUN: tests with a browser, Node.js, PostgreSQL or Redis. Install these packages first:$missing" >&2
    exit 3
fi
[ "${1:-}" != "--dry-run" ] || exit 0

# Tests do without these where a distribution has no such package. Chromium without a window takes a third less processor
# time than the whole browser, which does as well in most tests. Without PgBouncer
# or NATS their own tests are skipped.
for package in chromium-headless-shell pgbouncer nats-server; do
    if [ "$as" != "no" ] && ! PATH="$PATH:/usr/sbin" command -v "$package" >/dev/null; then
        install "$package" 2>/dev/null || echo "$package could not be installed." >&2
    fi
done

# shellcheck disable=SC2086
[ -z "$missing" ] || install $missing
