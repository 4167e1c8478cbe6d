#!/bin/sh
# Unpacks the packages of nginx, Caddy and HAProxy into a folder. Installing them would start servers.
# Where there is no apt, or no network, their tests are skipped.
set -eu
folder="$1"
[ ! -d "$folder/bin" ] && command -v apt-get >/dev/null || exit 0
mkdir -p "$folder/packages"
cd "$folder"
(cd packages && timeout 120 apt-get download -qq nginx caddy haproxy liblua5.3-0 libopentracing-c-wrapper0 libopentracing1) \
    2>/dev/null || { echo "nginx, Caddy and HAProxy could not be downloaded: their tests are skipped." >&2; exit 0; }
for package in packages/*.deb; do dpkg -x "$package" .; done
mkdir bin
for program in usr/sbin/nginx usr/bin/caddy usr/sbin/haproxy; do
    printf '#!/bin/sh\nLD_LIBRARY_PATH=$(echo "%s"/usr/lib/*-linux-gnu) exec "%s/%s" "$@"\n' "$PWD" "$PWD" $program \
        >"bin/${program##*/}"
done
chmod +x bin/*
rm -r packages
