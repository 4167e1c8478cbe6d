"""How log lines are written: each line with the id of its request, without keys and control characters.

The messages of exceptions often repeat a value, such as a question or a row of the database. So a log has the
type of an exception and where it was raised, and its message only if its type is one of `_SAFE`. Callers must
not log what readers send.
"""

import json
import logging
import re
import sys
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.db.utils import InterfaceError, OperationalError

from docsite.core import availability, context
from docsite.core.http.errors import ApiError, is_store_failure
from docsite.core.paths import CONTROL_CHARACTERS
from docsite.core.redis_servers.clients import ERRORS as REDIS_ERRORS

# Their messages tell what the system, the database server or Redis refused; ours are written for readers.
_SAFE = (OSError, OperationalError, InterfaceError, *REDIS_ERRORS, ApiError, ImportError)
_MAX_MESSAGE = 4_000
UNAVAILABLE_SECONDS = 60.0  # between two log lines about a 503
_SECRETS = (  # each after a part that stays
    re.compile(r"\b(svc_dsc_|svc_|sk-|Bearer )[\w.-]{4,}"),
    re.compile(r"(?<=\s)(uri=[^\s?]*\?)[^\s>]*"),  # of a request, as Daphne describes it
    re.compile(r"(/[^/\s]+/[^/\s]+/[^/\s]+/message/).+", re.DOTALL),  # a chat's id, which reads its answer
    re.compile(r"(/(?:threads|conversations)/).+", re.DOTALL),  # a thread's id
    re.compile(r"(/(?:invitations|shared|confirm-address|unsubscribe|admin/new-project)/).+", re.DOTALL),
    re.compile(r"(exception=)\w+\(.*"),  # of a task, as asyncio describes it
)


class UnavailableFilter(logging.Filter):
    """Passes one record in a minute about a 503, as a warning: a service at a cap works as it should."""

    def __init__(self) -> None:
        super().__init__()
        self._next = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is logged. Those of other statuses are."""
        if getattr(record, "status_code", None) != 503:
            return True
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + UNAVAILABLE_SECONDS
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class OutageFilter(logging.Filter):
    """Drops records about a store that does not work. `docsite.core.availability` logs when that begins and ends."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is logged."""
        values = record.args if isinstance(record.args, tuple) else ()
        failures = [record.msg, *values, record.exc_info[1] if record.exc_info else None]
        for failure in failures:
            if isinstance(failure, Exception) and is_store_failure(failure):
                store = availability.redis if isinstance(failure, REDIS_ERRORS) else availability.database
                store.report_failure(type(failure).__name__ if store is availability.redis else describe(failure))
                return False
        return True


class LineFormatter(logging.Formatter):
    """Writes a record as a line; the traceback of an exception as further lines."""

    def format(self, record: logging.LogRecord) -> str:
        """The lines of a record, each with time, level, logger and request id."""
        prefix = f"{self.formatTime(record)} {record.levelname} {record.name} [{context.request_id.get() or '-'}]"
        lines = [f"{prefix}: {clean_message(record)}"]
        if record.exc_info and record.exc_info[1]:
            lines += [f"{prefix}   {_clean(line)}" for line in describe_traceback(record.exc_info[1])]
        return "\n".join(lines)


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of JSON, for programs that collect logs."""

    def format(self, record: logging.LogRecord) -> str:
        """Time in UTC, level, logger, request id and message; with an exception also its traceback, line by line."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "request": context.request_id.get(),
            "message": clean_message(record),
        }
        if seconds := getattr(record, "seconds", None):  # of `docsite.core.request_times`
            fields["seconds"] = seconds
        if record.exc_info and record.exc_info[1]:
            fields["traceback"] = [_clean(line) for line in describe_traceback(record.exc_info[1])]
        return json.dumps(fields, ensure_ascii=False)


def clean_message(record: logging.LogRecord) -> str:
    """The message of a record in one line, without keys; exceptions among its values do not repeat what they hold."""
    if isinstance(record.msg, BaseException):
        return _clean(describe(record.msg))
    if str(record.msg).startswith("Traceback (most recent call last)"):  # Daphne logs a whole traceback as a message
        failure = sys.exc_info()[1]
        return _clean(" ".join(describe_traceback(failure)) if failure else "An exception without details.")
    if isinstance(record.args, tuple) and record.args:
        values = tuple(_Described(value) if isinstance(value, BaseException) else value for value in record.args)
        return _clean(str(record.msg) % values)
    return _clean(record.getMessage())


class _Described:
    """An exception as a value of a message, for `%s` and `%r`."""

    def __init__(self, failure: BaseException) -> None:
        self.text = describe(failure)

    def __repr__(self) -> str:
        return self.text


def describe(failure: BaseException) -> str:
    """The type of an exception, with its message if that is safe."""
    name = type(failure).__qualname__
    return f"{name}: {failure}" if isinstance(failure, _SAFE) and str(failure) else name


def describe_traceback(failure: BaseException) -> Iterator[str]:
    """Where an exception was raised, after the exceptions that led to it. One line for each call."""
    earlier = failure.__cause__ or (None if failure.__suppress_context__ else failure.__context__)
    if earlier is not None:
        yield from describe_traceback(earlier)
    yield "Traceback:"
    for call in traceback.extract_tb(failure.__traceback__):
        yield f"{call.filename}:{call.lineno} in {call.name}"
    yield describe(failure)


def _hide_rest(found: re.Match[str]) -> str:
    """The part that stays. A function, since a template would import a module, which fails at the end of Python."""
    return f"{found[1]}…"


def _clean(text: str) -> str:
    """One line without control characters and without keys."""
    for pattern in _SECRETS:
        text = pattern.sub(_hide_rest, text)
    text = CONTROL_CHARACTERS.sub(lambda character: repr(character[0])[1:-1], text)
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"
