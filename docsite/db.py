"""The one way from async code into the database."""

from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar, cast

from channels.db import database_sync_to_async

P = ParamSpec("P")
T = TypeVar("T")


def in_db(function: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """Run a function that uses the ORM in a worker thread. One call per phase of a request, not per query."""
    return cast(Callable[P, Awaitable[T]], database_sync_to_async(function))
