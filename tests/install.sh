#!/bin/sh
# Installs the system packages that the whole suite needs, or says which are missing.
set -eu

missing=""
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
    missing="$missing chromium"
command -v redis-server >/dev/null || missing="$missing redis-server"
command -v postgres >/dev/null || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing="$missing postgresql"
[ -n "$missing" ] || exit 0

if command -v apt-get >/dev/null; then
    if [ "$(id -u)" = 0 ]; then as=""; elif sudo -n true 2>/dev/null; then as="sudo"; else as="no"; fi
    if [ "$as" != "no" ]; then
        echo "Installing$missing …"
        export DEBIAN_FRONTEND=noninteractive
        $as apt-get update -qq
        # shellcheck disable=SC2086
        $as apt-get install -y -qq --no-install-recommends $missing >/dev/null
        exit 0
    fi
fi
echo "The tests need these system packages:$missing. Install them, or run \`make quick\`." >&2
exit 1
