#!/bin/sh
# Unpacks the packages of nginx, Caddy, HAProxy and Prometheus into a folder. Installing them would start servers.
# Where there is no apt, or no network, their tests are skipped.
set -eu
folder="$1"
[ ! -d "$folder/bin" ] && command -v apt-get >/dev/null || exit 0
mkdir -p "$folder/packages"
cd "$folder"
libraries="liblua5.3-0 libopentracing-c-wrapper0 libopentracing1"
# shellcheck disable=SC2086
(cd packages && timeout 120 apt-get download -qq nginx caddy haproxy prometheus $libraries) 2>/dev/null ||
    { echo "The servers for tests could not be downloaded: their tests are skipped." >&2; exit 0; }
for package in packages/*.deb; do dpkg -x "$package" .; done
mkdir bin
for program in usr/sbin/nginx usr/bin/caddy usr/sbin/haproxy usr/bin/promtool; do
    printf '#!/bin/sh\nLD_LIBRARY_PATH=$(echo "%s"/usr/lib/*-linux-gnu) exec "%s/%s" "$@"\n' "$PWD" "$PWD" $program \
        >"bin/${program##*/}"
done
chmod +x bin/*
rm -r packages
