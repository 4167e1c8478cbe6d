#!/bin/sh
# Fails unless a tag such as v1.4.2 is the version of the package, and the changelog has a dated section for it.
set -eu
version=${1#v}
grep -qx "version = \"$version\"" pyproject.toml || { echo "pyproject.toml has another version than $version." >&2; exit 1; }
grep -qE "^## $version, [0-9]{4}-[0-9]{2}-[0-9]{2}\$" CHANGELOG.md ||
    { echo "CHANGELOG.md needs the heading: ## $version, $(date -u +%F)" >&2; exit 1; }
