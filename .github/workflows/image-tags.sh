#!/bin/sh
# Prints the names of the image of a tag such as v1.4.2: its version, its first two numbers, and `latest` for the highest.
set -eu
image=$1 version=${2#v}
echo "$image:$version"
echo "$image:${version%.*}"
[ "$(git tag --list 'v*' --sort=-v:refname | head -n 1)" != "$2" ] || echo "$image:latest"
