#!/bin/sh
# Looks for known vulnerabilities in the locked packages. Says aloud which could not be looked up.
# Arguments: the folder of pip-audit's own virtual environment, and folders with a package-lock.json.
set -u

audit="$1/bin/pip-audit"
shift
report=$(mktemp)
trap 'rm -f "$report"' EXIT
vulnerable=""
unchecked=""

# OSV, since pip-audit takes a package that PyPI does not find for one without vulnerabilities.
audit_lock() {
    "$audit" --requirement "$1" --no-deps --disable-pip --vulnerability-service osv --progress-spinner off \
        --format "$2" --output "$report" 2>/dev/null
}

for lock in requirements.txt requirements-install.txt requirements-meaning.txt requirements-dev.txt; do
    : >"$report"
    if audit_lock "$lock" json && ! grep -q skip_reason "$report"; then
        echo "$lock: no known vulnerabilities"
    elif grep -q '"id"' "$report"; then # it writes a report only if the database has answered
        vulnerable="$vulnerable $lock"
        audit_lock "$lock" columns
        cat "$report"
    else
        unchecked="$unchecked $lock"
    fi
done

for folder in "$@"; do
    if npm --prefix "$folder" audit --package-lock-only --json >"$report" 2>/dev/null; then
        echo "$folder: no known vulnerabilities"
    elif grep -q '"auditReportVersion"' "$report"; then
        vulnerable="$vulnerable $folder"
        npm --prefix "$folder" audit --package-lock-only
    else
        unchecked="$unchecked $folder"
    fi
done

[ -z "$unchecked" ] || echo "NOT CHECKED, since no database of vulnerabilities has answered:$unchecked" >&2
[ -z "$vulnerable" ] || { echo "Known vulnerabilities:$vulnerable" >&2; exit 1; }
