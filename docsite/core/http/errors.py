"""The one error shape of every API path: a sentence for people, and one detail for each wrong field.

ApiError            any status
+- BadRequest       400, always with details
+- Unauthorized     401, with WWW-Authenticate
+- Forbidden        403
+- NotFound         404
+- TooLarge         413
+- WrongType        415
+- TooMany          429, with Retry-After
+- Unavailable      503, with Retry-After
"""

import errno
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import JsonResponse

from docsite.core.redis_servers.clients import ERRORS as REDIS_ERRORS


@dataclass
class ApiError(Exception):
    """A failure that the caller may read. `details` are sentences of the form `field: what is wrong`."""

    status: int
    sentence: str
    details: Sequence[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.sentence

    def response(self) -> JsonResponse:
        """The error as JSON: `{"error": sentence, "details": [{"message": ...}]}`."""
        body: dict[str, object] = {"error": self.sentence}
        if self.details:
            body["details"] = [{"message": detail} for detail in self.details]
        return JsonResponse(body, status=self.status, headers=dict(self.headers))


class BadRequest(ApiError):
    """400. Names each wrong field."""

    def __init__(self, *details: str, sentence: str = "The request is not valid.") -> None:
        super().__init__(400, sentence, details)


class Unauthorized(ApiError):
    """401. `sent`: whether the request had a key."""

    def __init__(self, *, sent: bool) -> None:
        sentence = "Unknown, revoked or expired API key." if sent else "Missing API key."
        challenge = 'Bearer error="invalid_token"' if sent else "Bearer"
        super().__init__(401, sentence, headers={"WWW-Authenticate": challenge})


class Forbidden(ApiError):
    """403."""

    def __init__(self, sentence: str) -> None:
        super().__init__(403, sentence)


class NotFound(ApiError):
    """404. The sentence is the same for what does not exist and for what belongs to somebody else."""

    def __init__(self, sentence: str) -> None:
        super().__init__(404, sentence)


class TooLarge(ApiError):
    """413."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"The request body is larger than {limit // 1024} KiB.")


def is_body_too_large(scope: Mapping[str, Any]) -> bool:
    """Whether our server has left out the body, because it is over the limit of all requests."""
    return bool(scope.get("extensions", {}).get("docsite.body_too_large"))


class WrongType(ApiError):
    """415."""

    def __init__(self, sentence: str) -> None:
        super().__init__(415, sentence)


class TooMany(ApiError):
    """429, `retry_after` in whole seconds."""

    def __init__(self, retry_after: int) -> None:
        wait = max(1, retry_after)
        sentence = f"Too many requests. Try again in {format_duration(wait)}."
        super().__init__(429, sentence, headers={"Retry-After": str(wait)})


def in_largest_unit(seconds: int) -> tuple[int, str]:
    """A duration in the unit that people would use, rounded up: 2405 seconds are `(41, "minute")`."""
    length, unit = (3600, "hour") if seconds > 5400 else (60, "minute") if seconds > 90 else (1, "second")
    return -(-seconds // length), unit


def format_duration(seconds: int) -> str:
    """A duration in words: `1 second`, `41 minutes`, `15 hours`."""
    number, unit = in_largest_unit(seconds)
    return f"{number} {unit}{'' if number == 1 else 's'}"


def is_store_failure(failure: Exception) -> bool:
    """Whether an exception means that the database or Redis cannot be reached, is busy or full."""
    if getattr(failure.__cause__, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
        return False  # a mistake in a statement
    return isinstance(failure, (OperationalError, InterfaceError, *REDIS_ERRORS))


def is_out_of_descriptors(failure: BaseException | None) -> bool:
    """Whether an exception was raised since this process may not open more files or connections."""
    while failure is not None:
        if isinstance(failure, OSError) and failure.errno in (errno.EMFILE, errno.ENFILE):
            return True
        failure = failure.__cause__ or failure.__context__
    return False


class Unavailable(ApiError):
    """503, `retry_after` in whole seconds."""

    def __init__(self, sentence: str, retry_after: int = 5) -> None:
        super().__init__(503, sentence, headers={"Retry-After": str(retry_after)})
