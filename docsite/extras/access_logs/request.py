"""A request in a log, and what the formats of servers have in common."""

import re
from typing import NamedTuple


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
    missing: str = ""  # an essential field that the line does not have, or under no known name


TEXT = r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"'  # in quotes, with escapes


def split_request(request: str) -> tuple[str, str]:
    """The method and the target of `GET /a HTTP/1.1`, `GET /a`, or `/a` alone, which has no method (empty)."""
    if request.startswith("/"):
        return "", request
    method, _, rest = request.partition(" ")
    target, _, protocol = rest.rpartition(" ")
    return method, target if protocol.startswith("HTTP/") else rest


_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)


def unescape(text: str) -> str:
    r"""A field as the reader sent it: servers write a quote as `\x22` (nginx) or `\"` (Apache), `é` as `\xC3\xA9`."""
    return _ESCAPE.sub(_unescape_byte, text.encode("utf-8", "replace")).decode("utf-8", "replace")


def _unescape_byte(escape: re.Match[bytes]) -> bytes:
    escaped = escape[1]
    return bytes([int(escaped[1:], 16)]) if len(escaped) == 3 else b" " if escaped in b"bnrtv" else escaped


def unless_empty(text: str) -> str:
    """A field, which logs write as `-` where it is empty."""
    return "" if text == "-" else text
