#!/bin/sh
# Restarts the web processes on these ports one after the other, then the worker: sudo sh restart.sh 8000 8001
set -eu

# Restarts a unit and waits until it is ready. Ends with an error after a minute; the other processes go on as they are.
restart() {
    systemctl restart "$1"
    curl --retry 60 --retry-delay 1 --retry-all-errors -fs -o /dev/null "http://127.0.0.1:$2/health/ready" ||
        { echo "$1 is not ready: journalctl -u $1" >&2; exit 1; }
}

for port in "$@"; do
    restart "docs-web@$port" "$port"
done
restart docs-worker 8100
