"""Parses a request body strictly: size, type, encoding, depth, number of values, then JSON."""

import json
import math
import re
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest

from docsite.core.http.errors import BadRequest, TooLarge, WrongType

MAX_DEPTH = 64
SMALL_BODY = 64 * 1024  # bytes; larger ones are parsed one at a time, since the parser holds up all other threads
MAX_VALUES = 400_000  # of objects, lists and their items; the parser holds up all other threads until it has them all
BROWSER_LIMIT = 128 * 1024  # bytes that a page may send without a key
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_NOT_STRUCTURE = bytes(byte for byte in range(256) if byte not in b'[]{},"')
_HALF_OF_A_PAIR = re.compile("[\ud800-\udfff]")

_large_bodies = threading.Lock()


def read_json(request: HttpRequest, *, from_browser: bool = False) -> dict[str, Any]:
    """Return the body as an object. Raises an `ApiError` that names the mistake.

    `from_browser` is for requests of browsers without a key. Their body must be smaller,
    and may be `text/plain`, which browsers send to another origin without a preflight.
    """
    limit = BROWSER_LIMIT if from_browser else settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if is_body_too_large(request.scope):  # type: ignore[attr-defined]  # of Django's ASGIRequest
        raise TooLarge(limit)
    try:
        raw = request.body
    except RequestDataTooBig:
        raise TooLarge(limit) from None
    if len(raw) > limit:  # a chunked body announces no length
        raise TooLarge(limit)
    if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise WrongType("Send the body without Content-Encoding.")
    allowed = {"application/json", "text/plain"} if from_browser else {"application/json"}
    charset = (request.content_params or {}).get("charset", "utf-8").lower()
    if request.content_type not in allowed or charset not in ("utf-8", "utf8"):
        raise WrongType("Send the body as application/json in UTF-8.")
    return parse_object(raw)


def is_body_too_large(scope: Mapping[str, Any]) -> bool:
    """Whether our server has left out the body, because it is over the limit of all requests."""
    return bool(scope.get("extensions", {}).get("docsite.body_too_large"))


def parse_object(raw: bytes) -> dict[str, Any]:
    """Parse one JSON object: strict UTF-8, at most 64 levels, no NaN, no lone surrogates, no NUL."""
    with _large_bodies if len(raw) > SMALL_BODY else nullcontext():
        return _parse_object(raw)


def _parse_object(raw: bytes) -> dict[str, Any]:
    _check_structure(raw)
    try:
        value = json.loads(raw.decode("utf-8").removeprefix("\ufeff"), parse_constant=_refuse, parse_float=_finite)
    except UnicodeDecodeError:
        raise BadRequest("body: not UTF-8") from None
    except json.JSONDecodeError as wrong:
        raise BadRequest(f"body: not JSON ({wrong.msg} at character {wrong.pos})") from None
    except (ValueError, RecursionError):  # NaN, Infinity, or an integer of thousands of digits
        raise BadRequest("body: a number is out of range") from None
    if not isinstance(value, dict):
        raise BadRequest("body: must be a JSON object")
    if b"\\u" in raw or b"\x00" in raw:
        _check_text(value)
    return value


def _refuse(name: str) -> None:
    raise ValueError(name)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(digits)
    return number


def _check_structure(raw: bytes) -> None:
    """Refuse brackets that nest too deeply, and too many values. The JSON parser recurses, and cannot be interrupted.

    It removes the innermost pairs, a whole level at a time: a loop over two million
    brackets would block every other request.
    """
    brackets = raw.count(b"[") + raw.count(b"{")
    if brackets <= MAX_DEPTH and brackets + raw.count(b",") <= MAX_VALUES:
        return
    unescaped = raw.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in raw else raw
    structure = unescaped.translate(_ONE_KIND, _NOT_STRUCTURE).replace(b'""', b"")  # remove strings without brackets
    skeleton = b"".join(structure.split(b'"')[::2])  # then the other strings
    if skeleton.count(b"[") + skeleton.count(b",") > MAX_VALUES:
        raise BadRequest(f"body: more than {MAX_VALUES} values")
    skeleton = skeleton.replace(b",", b"")
    for _ in range(MAX_DEPTH):
        shorter = skeleton.replace(b"[]", b"")
        if len(shorter) == len(skeleton):
            break
        skeleton = shorter
    if len(skeleton) > MAX_DEPTH or b"[]" in skeleton:
        raise BadRequest(f"body: more than {MAX_DEPTH} levels of nesting")


def _check_text(value: Any, where: str = "body") -> None:
    """Refuse text that a database or UTF-8 cannot hold. It can only come from `\\u` escapes."""
    if isinstance(value, str):
        if "\x00" in value:
            raise BadRequest(f"{where}: contains a NUL character")
        if _HALF_OF_A_PAIR.search(value):
            raise BadRequest(f"{where}: contains half of a surrogate pair")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key, where)
            _check_text(item, key[:40])
    elif isinstance(value, list):
        for item in value:
            _check_text(item, where)
