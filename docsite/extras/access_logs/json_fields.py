"""Find the fields of a request in a JSON log line, whatever its library calls them.

A name is read as its words: `http.response.status_code`, `{"res": {"statusCode": 404}}`, `sc-status` and
`EdgeResponseStatus` all end like a status. If several fields are a status or a method, they must agree.
https://www.elastic.co/docs/reference/ecs
https://opentelemetry.io/docs/specs/semconv/http/http-spans/
https://doc.traefik.io/traefik/observability/access-logs/
https://developers.cloudflare.com/logs/reference/log-fields/zone/http_requests/
"""

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

_MAX_NAME_LENGTH = 200  # clients choose the names of headers, and what a name means is cached
_MAX_DEPTH = 6
_MIN_ID_LENGTH = 16  # of a request id: nginx has 32 characters, Cloudflare 16; a shorter one may repeat
_COLLECT = frozenset({"path", "ip", "userAgent"})

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# The last words of a field's name, the best first; `^`: the whole name.
_NAMES = {
    "time": "timestamp timeiso8601 msec timelocal ts startutc startlocal starttime startedat eventtime requesttime "
    "^time ^datetime",
    "date": "^date",
    "address": "^ip clientip remoteaddr remoteip cip clientaddr clienthost clientaddress sourceip sourceaddress "
    "remoteaddress remotehost ^ipaddress",
    "method": "method verb",
    "target": "requesturi requestpath requesturl uristem uri urloriginal httptarget url path",
    "request": "request requestline",
    "status": "status statuscode responsecode httpcode respcode rescode resultcode ^code ^response",
    "agent": "useragent agent useragentoriginal ^ua",
    "referrer": "referrer referer",
    "accept": "accept",
    "host": "httphost requesthost headershost hostheader cshost urldomain authority",
    "purpose": "purpose moz",
    "private": "gpc dnt",
    "id": "requestid rayid",
}
_RANKS = {name: (role, rank) for role, names in _NAMES.items() for rank, name in enumerate(names.split())}
_OF_CLIENT = frozenset({"agent", "referrer", "accept", "host", "purpose", "private"})  # what its headers may say
_NOT_OF_REQUEST = frozenset({"upstream", "origin", "backend", "cache", "grpc", "win", "exit", "file"})
_RESPONSE = frozenset({"response", "resp", "res"})
_EMPTY = ("", "-")
_VALUES = {
    "time": re.compile(r"\d{4}-\d\d-\d\d[T ]|\d\d/\w{3}/\d{4}:|\d{10}|\d\d:\d\d:\d\d\Z", re.ASCII),
    "method": re.compile(r"(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|TRACE|CONNECT)\Z", re.IGNORECASE),
    "target": re.compile(r"/|https?://", re.IGNORECASE),
    "request": re.compile(r"[A-Z]{3,20} |/"),
    "private": re.compile(r"1\Z"),
    "status": re.compile(r"[1-5]\d\d(?:\.0+)?(?!\S)", re.ASCII),
}


def find_fields(line: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a request, by the keys of `_NAMES`. What the line does not say, or not clearly, is missing."""
    said: dict[str, list[tuple[bool, int, int, str]]] = {}
    for name, roles, value in _flatten(line):
        text = _text(value)
        for role, rank in roles:
            if role not in _VALUES or _VALUES[role].match(text):
                said.setdefault(role, []).append((text in _EMPTY, rank, len(name), text))
    found = {role: (values[0] if len(values) == 1 else min(values))[-1] for role, values in said.items()}
    for role, length in (("status", 3), ("method", None)):
        if len({text[:length].upper() for *_, text in said.get(role, ())}) > 1:
            del found[role]
    _complete(found, line)
    return found


def _complete(found: dict[str, str], line: Mapping[str, Any]) -> None:
    """Add what some formats say in another way."""
    if (date := found.get("date")) and len(found.get("time", "")) == len("12:00:00"):  # W3C, as CloudFront writes it
        found["time"] = f"{date}T{found['time']}Z"
    if "%20" in (agent := found.get("agent", "")):
        found["agent"] = unquote(agent)
    if line.keys() >= _COLLECT and _is_reported_view(line):
        found |= {"status": "200", "method": "GET"}
    if "id" in line and line.keys() >= {"path", "ip"}:
        found["id"] = _text(line["id"])
    elif len(found.get("id", "")) < _MIN_ID_LENGTH:
        found.pop("id", None)


def _is_reported_view(line: Mapping[str, Any]) -> bool:
    """Whether a line has no other fields than those of the collect endpoint, which needs no status."""
    roles = [{role for role, _ in _roles_of(name)} for name in line if name != "id"]
    return all(found and not found & {"status", "method", "request"} for found in roles)


def _flatten(
    fields: Mapping[str, Any], prefix: str = "", depth: int = _MAX_DEPTH
) -> Iterator[tuple[str, tuple[tuple[str, int], ...], Any]]:
    """The fields that may be one of a request, each with its name, its roles and its value."""
    for name, value in fields.items():
        if isinstance(value, dict):
            if depth:
                yield from _flatten(value, f"{prefix}{name}.", depth - 1)
        elif len(prefix + name) <= _MAX_NAME_LENGTH and (roles := _roles_of(prefix + name)):
            yield prefix + name, roles, value


@functools.lru_cache(10_000)
def _roles_of(name: str) -> tuple[tuple[str, int], ...]:
    """What a field may be by its name, each with the rank of the name."""
    words = [word.lower() for word in _WORD.findall(name)]
    is_header = not {"header", "headers"}.isdisjoint(words)
    if not _NOT_OF_REQUEST.isdisjoint(words) or (is_header and not _RESPONSE.isdisjoint(words)):
        return ()
    tails = {"".join(words[-count:]) for count in range(1, 5)} | {f"^{''.join(words)}"}
    ranks = dict(sorted(_RANKS[tail] for tail in tails & _RANKS.keys())[::-1])  # of each role the best
    return tuple((role, rank) for role, rank in ranks.items() if role in _OF_CLIENT or not is_header)


def _text(value: Any) -> str:
    """A value as text. Of a list, which Caddy writes for each header, the first value."""
    if isinstance(value, list):
        value = value[0] if value else ""
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""
