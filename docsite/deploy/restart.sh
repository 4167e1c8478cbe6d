#!/bin/sh
# Restarts the web processes on these ports one after the other, then the worker: sudo sh restart.sh 8000 8001
set -eu
for port in "$@"; do
    systemctl restart "docs-web@$port"
    # Ends with an error if the process is not ready after a minute. The other processes then go on as they are.
    curl --retry 60 --retry-delay 1 --retry-all-errors -fs -o /dev/null "http://127.0.0.1:$port/health/ready" ||
        { echo "docs-web@$port is not ready: journalctl -u docs-web@$port" >&2; exit 1; }
done
systemctl restart docs-worker
