"""Parses a request body strictly: size, type, encoding, depth, number of values, JSON, then its fields."""

import asyncio
import gc
import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Self, TypeVar

import msgspec
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from pydantic import BaseModel, ValidationError

from docsite.core import context
from docsite.core.http.errors import BadRequest, TooLarge, WrongType, is_body_too_large
from docsite.core.http.schemas import describe_errors

MAX_DEPTH = 64
SMALL_BODY = 64 * 1024  # bytes; larger ones are parsed one at a time
# The parser holds up all other threads until it has all values, and takes longest for names that differ.
MAX_VALUES = 400_000  # objects, lists and their items
MAX_NAMES = 100_000  # in objects, beside those that each part of a message has
_NAMES_OF_PARTS = (b'"type":', b'"text":')
BROWSER_LIMIT = 128 * 1024  # bytes that a page may send without a key
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_NOT_STRUCTURE = bytes(byte for byte in range(256) if byte not in b'[]{},:"')
_HALF_OF_A_PAIR = re.compile("[\ud800-\udfff]")
MAX_COMMAS = 20_000  # of a body in which the place of half of a surrogate pair is looked for

_large_bodies = ThreadPoolExecutor(1, thread_name_prefix="large-bodies")


class QuickBody(BaseModel, ABC):
    """A body that has a faster parser, which knows only valid bodies."""

    @classmethod
    @abstractmethod
    def parse_valid(cls, raw: bytes) -> Self | None:
        """The body; None if it may be invalid. Then the usual parser decides, and names the mistake."""


Body = TypeVar("Body", bound=BaseModel)
Result = TypeVar("Result")


def read_json(request: HttpRequest, schema: type[Body], *, from_browser: bool = False) -> Body | None:
    """Return the body as an object of this schema; None if it is large: then call `parse_large`.

    Raises an `ApiError` that names the mistake.

    `from_browser` is for requests of browsers without a key. Their body must be smaller,
    and may be `text/plain`, which browsers send to another origin without a preflight.
    """
    limit = BROWSER_LIMIT if from_browser else settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    raw = read_bytes(request, limit, {"application/json", "text/plain"} if from_browser else {"application/json"})
    return parse(schema, raw) if len(raw) <= SMALL_BODY else None


def read_bytes(request: HttpRequest, limit: int, types: Set[str]) -> bytes:
    """The body. Raises `ApiError` if it is longer than the limit, compressed, or of another type."""
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
    charset = (request.content_params or {}).get("charset", "utf-8").lower()
    if request.content_type not in types or charset not in ("utf-8", "utf8"):
        raise WrongType("Send the body as application/json in UTF-8.")
    return raw


async def parse_large(parse: Callable[[], Result]) -> Result:
    """Call a function that parses and validates a large body. One at a time, in a thread of their own.

    The parser holds up all other threads, the event loop among them, for some tens of milliseconds.
    """
    return await asyncio.get_running_loop().run_in_executor(_large_bodies, copy_context().run, _call_and_pause, parse)


def _call_and_pause(parse: Callable[[], Result]) -> Result:
    """Call a parser, then pause for as long as it took, so that the event loop can run.

    Garbage is not collected meanwhile. A collection would look at each of some
    hundred thousand new values, which cannot be garbage yet.
    """
    began = time.monotonic()
    gc.disable()
    try:
        with context.measure_cpu_time():
            return parse()
    finally:
        gc.enable()
        time.sleep(time.monotonic() - began)


def parse(schema: type[Body], raw: bytes) -> Body:
    """An object of this schema from JSON. Raises BadRequest that names the mistake."""
    quick = schema.parse_valid(raw) if issubclass(schema, QuickBody) else None
    return validate(schema, parse_object(raw)) if quick is None else quick


def validate(schema: type[Body], value: dict[str, Any]) -> Body:
    """An object of this schema. Raises BadRequest that names the fields."""
    try:
        return schema.model_validate(value)
    except ValidationError as wrong:
        details = describe_errors(wrong.errors(include_url=False))
    raise BadRequest(*details)


def parse_object(raw: bytes) -> dict[str, Any]:
    """Parse one JSON object, as `parse_value` does."""
    value = parse_value(raw)
    if not isinstance(value, dict):
        raise BadRequest("body: must be a JSON object")
    return value


def parse_value(raw: bytes) -> Any:
    """Parse JSON: strict UTF-8, at most 64 levels, no NaN, no lone surrogates, no NUL. Raises BadRequest."""
    _check_structure(raw)
    try:
        value = msgspec.json.decode(raw.removeprefix(b"\xef\xbb\xbf"))
    except UnicodeDecodeError:
        raise BadRequest("body: not UTF-8") from None
    except msgspec.ValidationError:
        raise BadRequest("body: a number is out of range") from None
    except msgspec.DecodeError as wrong:
        _refuse_half_of_a_pair(raw)
        raise BadRequest(f"body: not JSON ({wrong})") from None
    if b"\\u0000" in raw and b"\\u0000" in raw.replace(b"\\\\", b""):  # a backslash may be escaped itself
        _check_text(value)
    return value


def _refuse_half_of_a_pair(raw: bytes) -> None:
    """Name the text with half of a surrogate pair, if that is all that is wrong. Python's parser takes it.

    That parser is slow: where a body has very many values, the byte must be enough.
    """
    if raw.count(b",") <= MAX_COMMAS:
        with suppress(ValueError):
            _check_text(json.loads(raw))


def _check_structure(raw: bytes) -> None:
    """Refuse brackets that nest too deeply, and too many values or names. The JSON parser cannot be interrupted.

    It removes the innermost pairs, a whole level at a time: a loop over two million
    brackets would block every other request.
    """
    brackets = raw.count(b"[") + raw.count(b"{")
    if brackets <= MAX_DEPTH and brackets + raw.count(b",") <= MAX_VALUES and raw.count(b":") <= MAX_NAMES:
        return
    unescaped = raw.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in raw else raw
    structure = unescaped.translate(_ONE_KIND, _NOT_STRUCTURE).replace(b'""', b"")  # remove strings without brackets
    skeleton = b"".join(structure.split(b'"')[::2])  # then the other strings
    if skeleton.count(b"[") + skeleton.count(b",") > MAX_VALUES:
        raise BadRequest(f"body: more than {MAX_VALUES} values")
    if skeleton.count(b":") - sum(map(raw.count, _NAMES_OF_PARTS)) > MAX_NAMES:
        raise BadRequest(f"body: more than {MAX_NAMES} names")
    skeleton = skeleton.translate(None, b",:")
    for _ in range(MAX_DEPTH):
        shorter = skeleton.replace(b"[]", b"")
        if len(shorter) == len(skeleton):
            break
        skeleton = shorter
    if len(skeleton) > MAX_DEPTH or b"[]" in skeleton:
        raise BadRequest(f"body: more than {MAX_DEPTH} levels of nesting")


def _check_text(value: Any, place: tuple[str | int, ...] = ()) -> None:
    """Refuse text that a database or UTF-8 cannot hold. It can only come from `\\u` escapes.

    `place` has the keys and indexes that lead to the value.
    """
    if isinstance(value, str):
        fault = "a NUL character" if "\x00" in value else ""
        if _HALF_OF_A_PAIR.search(value):
            fault = "half of a surrogate pair"
        if fault:
            raise BadRequest(f"{'.'.join(map(str, place)) or 'body'}: contains {fault}")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key, place)
            _check_text(item, (*place, key[:40]))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _check_text(item, (*place, number))
