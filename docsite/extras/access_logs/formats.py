"""Parse a line of an access log into a request: combined and common format, JSON, and those of `servers`.

The formats of nginx and Apache may have a virtual host before them and more fields after them. `json_fields` finds the
fields of JSON lines. A line may be wrapped by what collected it: Docker, Kubernetes, syslog.
https://nginx.org/en/docs/http/ngx_http_log_module.html
https://httpd.apache.org/docs/current/mod/mod_log_config.html
"""

import functools
import json
import re
from datetime import UTC, datetime, timedelta, timezone

from docsite.core.http import dates
from docsite.extras.access_logs import servers
from docsite.extras.access_logs.json_fields import find_fields
from docsite.extras.access_logs.request import TEXT, Request, split_request, unescape, unless_empty

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def decode(raw: bytes) -> str:
    """A line as text, without a byte order mark and a carriage return."""
    return raw.decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r")


# What stands before a line of a server: syslog (RFC 3164, RFC 5424), and times and names of containers.
_PREFIXES = (
    re.compile(
        r"(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:\d\d)) "
        r"\S{1,255} [\w./-]{1,64}(?:\[\d{1,10}\])?: ",
        re.ASCII,
    ),
    re.compile(r"<\d{1,3}>1(?: \S{1,255}){5} (?:-|\[[^\]]{0,1000}\]) (?:\ufeff)?"),
    re.compile(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) (?:std(?:out|err) [FP] )?", re.ASCII
    ),  # Kubernetes, and times of Docker
    re.compile(r"[\w.-]{1,100} {0,40}\| ", re.ASCII),  # docker compose logs
)
_LINE_KEYS = ("log", "message", "MESSAGE")  # of JSON around a line: Docker, collectors, the journal


def parse_line(line: str) -> Request | None:
    """The request of a line, or None when the line is in no known format."""
    for prefix in _PREFIXES:
        if (found := prefix.match(line)) and (request := _parse_bare(line[found.end() :])):
            return request
    return _parse_bare(line)


def _parse_bare(line: str) -> Request | None:
    if line.startswith("{"):
        return _parse_json(line)
    return next(filter(None, (parse(line) for parse in (_parse_combined, *servers.PARSERS))), None)


_COMBINED = re.compile(
    r"(?:([\w.-]+)(?::\d+)? (?=[\da-fA-F]*[.:][\da-fA-F:.]*,? ))?"  # a virtual host, where an address follows it
    rf"(\S+) \S+ .{{0,200}}?\[([^\]\"]{{10,40}})\] {TEXT} (\d{{3}}) \S+"
    rf"(?: {TEXT} {TEXT}|[^\"]*\Z)"
)


def _parse_combined(line: str) -> Request | None:
    found = _COMBINED.match(line)
    if found is None:
        return None
    host, address, time, request, status, referrer, user_agent = found.groups("")
    if "\\" in line:
        request, referrer, user_agent = unescape(request), unescape(referrer), unescape(user_agent)
    method, target = split_request(request)
    return Request(time, address, method, target, status, unless_empty(user_agent), referrer, host=host)


def _parse_json(line: str, *, is_inner: bool = False) -> Request | None:
    try:
        said = json.loads(line)
        found = find_fields(said)
    except (ValueError, RecursionError):
        return None
    if not found.keys() & {"target", "request"}:
        inner = next((text for key in _LINE_KEYS if isinstance(text := said.get(key), str)), "").rstrip("\r\n")
        if not is_inner and (request := _parse_json(inner, is_inner=True) if inner[:1] == "{" else _parse_bare(inner)):
            return request
    method, target = split_request(found.get("request", ""))
    found = {"method": method, "target": target, **found}
    user_agent = found.get("agent", "")
    missing = next((field for field in ("target", "method", "status") if not found.get(field)), "")
    return Request(
        time=found.get("time", ""),
        address=found.get("address", ""),
        method=found["method"].upper(),
        target=found["target"],
        status=found.get("status", "")[:3],
        user_agent=unless_empty(user_agent),
        referrer=found.get("referrer", ""),
        accept=found.get("accept", ""),
        host=found.get("host", ""),
        request_id=found.get("id", ""),
        purpose=found.get("purpose", ""),
        private="private" in found,
        missing=missing or "agent" * ("agent" not in found),
    )


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LOCAL = re.compile(
    r"(\d\d)/(\w{3})/(\d{4}):(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6})\d*)? ([+-])(\d\d):?(\d\d)", re.ASCII
)  # 20/Nov/2026:10:15:00 +0100
_UNIX = re.compile(r"(\d{10})(\d{3}|\d{6}|\d{9})?(?:\.(\d+))?", re.ASCII)


@functools.lru_cache(1_000)
def parse_time(text: str) -> datetime | None:
    """Parse a time: as in the combined format, ISO 8601, or (milli-, micro-, nano-) seconds since 1970."""
    try:
        if local := _LOCAL.fullmatch(text):
            day, month, year, hour, minute, second, fraction, sign, hours, minutes = local.groups("")
            zone = timezone(timedelta(hours=int(sign + hours), minutes=int(sign + minutes)))
            clock = int(hour), int(minute), int(second), int(fraction.ljust(6, "0"))
            return datetime(int(year), _MONTHS.index(month) + 1, int(day), *clock, zone).astimezone(UTC)
        if unix := _UNIX.fullmatch(text):
            seconds, more, fraction = unix.groups("")
            return _EPOCH + timedelta(seconds=int(seconds), microseconds=int((more + fraction)[:6].ljust(6, "0")))
        return dates.parse(f"{text[:10]}T{text[11:]}" if text[10:11] == " " else text)
    except (ValueError, OverflowError):
        return None
