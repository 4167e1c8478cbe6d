"""Addresses that readers ask for and that no page has. A part may keep them, and know where their pages went."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from docsite.core.tenants.models import Project


class MissingRequest(NamedTuple):
    """A request for a page that does not exist. `path` is as projects store paths, the rest as the client sent it."""

    path: str
    at: datetime
    user_agent: str = ""
    referrer: str = ""


@dataclass(frozen=True)
class Keeper:
    """The functions of the part, as those below. Only `record` does not block."""

    record: Callable[[Project, Iterable[MissingRequest]], None]
    flush: Callable[[], None]
    find_replacement: Callable[[Project, str], str]


_keeper: Keeper | None = None


def install(keeper: Keeper) -> None:
    """Let a part keep these addresses. Call it in `AppConfig.ready`."""
    global _keeper
    _keeper = keeper


def record(project: Project, requests: Iterable[MissingRequest]) -> None:
    """Note that readers asked for pages that do not exist. Does not wait for the database."""
    if _keeper:
        _keeper.record(project, requests)


def flush() -> None:
    """Store what is recorded. A process that serves does so by itself."""
    if _keeper:
        _keeper.flush()


def find_replacement(project: Project, path: str) -> str:
    """The path of the page that took the place of a missing one, if the present reader sees it; else empty."""
    return _keeper.find_replacement(project, path) if _keeper else ""
