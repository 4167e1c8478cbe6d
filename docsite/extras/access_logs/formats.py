"""Parse a line of an access log into a request: combined and common format, and JSON.

The formats of nginx and Apache may have a virtual host before them and more fields
after them. `json_fields` finds the fields of JSON lines.
https://nginx.org/en/docs/http/ngx_http_log_module.html
https://httpd.apache.org/docs/current/mod/mod_log_config.html
"""

import functools
import json
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from docsite.core.http import dates
from docsite.extras.access_logs.json_fields import find_fields

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Request(NamedTuple):
    """A request in a log. Fields that the log does not have are empty."""

    time: str
    address: str
    method: str
    target: str
    status: str
    user_agent: str = ""
    referrer: str = ""
    accept: str = ""
    host: str = ""
    request_id: str = ""
    purpose: str = ""
    private: bool = False
    missing: str = ""  # of a JSON line: an essential field that no known name has


def decode(raw: bytes) -> str:
    """A line as text, without a byte order mark and a carriage return."""
    return raw.decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r")


def parse_line(line: str) -> Request | None:
    """The request of a line, or None when the line is in no known format."""
    return _parse_json(line) if line.startswith("{") else _parse_combined(line)


_TEXT = r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
_COMBINED = re.compile(
    r"(?:([\w.-]+)(?::\d+)? (?=[\da-fA-F]*[.:][\da-fA-F:.]* ))?"  # a virtual host, where an address follows it
    rf"(\S+) \S+ .{{0,200}}?\[([^\]\"]{{10,40}})\] {_TEXT} (\d{{3}}) \S+"
    rf"(?: {_TEXT} {_TEXT}|[^\"]*\Z)"
)


def _parse_combined(line: str) -> Request | None:
    found = _COMBINED.match(line)
    if found is None:
        return None
    host, address, time, request, status, referrer, user_agent = found.groups("")
    if "\\" in line:
        request, referrer, user_agent = _unescape(request), _unescape(referrer), _unescape(user_agent)
    method, target = _split_request(request)
    return Request(time, address, method, target, status, "" if user_agent == "-" else user_agent, referrer, host=host)


def _split_request(request: str) -> tuple[str, str]:
    """Method and target of a request line, with or without the protocol, or of a target alone."""
    if request.startswith("/"):
        return "", request
    method, _, rest = request.partition(" ")
    target, _, protocol = rest.rpartition(" ")
    return method, target if protocol.startswith("HTTP/") else rest


_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)


def _unescape(text: str) -> str:
    r"""Undo escapes: nginx writes a quote and each byte beyond ASCII as `\x22`, Apache also `\"` and `\n`."""
    return _ESCAPE.sub(_unescape_byte, text.encode("utf-8", "replace")).decode("utf-8", "replace")


def _unescape_byte(escape: re.Match[bytes]) -> bytes:
    fields = escape[1]
    return bytes([int(fields[1:], 16)]) if len(fields) == 3 else b" " if fields in b"bnrtv" else fields


def _parse_json(line: str) -> Request | None:
    try:
        found = find_fields(json.loads(line))
    except (ValueError, RecursionError):
        return None
    method, target = _split_request(found.get("request", ""))
    found = {"method": method, "target": target, **found}
    user_agent = found.get("agent", "")
    missing = next((field for field in ("target", "method", "status") if not found.get(field)), "")
    return Request(
        time=found.get("time", ""),
        address=found.get("address", ""),
        method=found["method"].upper(),
        target=found["target"],
        status=found.get("status", "")[:3],
        user_agent="" if user_agent == "-" else user_agent,
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
