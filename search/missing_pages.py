"""Addresses that readers ask for and that no page has. A part may keep them, and know where their pages went."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.utils.module_loading import import_string

from docsite.core.tenants.models import Project


class MissingRequest(NamedTuple):
    """A request for a page that does not exist. `path` is as projects store paths, the rest as the client sent it.

    `network` is the one that has the limit, empty for a log, which has none. `wants_markdown`: only machines do.
    """

    path: str
    at: datetime
    user_agent: str = ""
    referrer: str = ""
    network: str = ""
    wants_markdown: bool = False


@dataclass(frozen=True)
class Keeper:
    """The functions of the part, as those below. Only `record` does not block."""

    record: Callable[[Project, Iterable[MissingRequest]], None]
    flush: Callable[[], None]
    find_replacement: Callable[[Project, str], str]


_keeper = ""


def install(keeper: str) -> None:
    """Let a part keep these addresses: the dotted name of its `Keeper`. Call it in `AppConfig.ready`."""
    global _keeper
    _keeper = keeper


def record(project: Project, requests: Iterable[MissingRequest]) -> None:
    """Note that readers asked for pages that do not exist. Does not wait for the database."""
    if keeper := _load():
        keeper.record(project, requests)


def flush() -> None:
    """Store what is recorded. A process that serves does so by itself."""
    if keeper := _load():
        keeper.flush()


def find_replacement(project: Project, path: str) -> str:
    """The path of the page that took the place of a missing one, if the present reader sees it; else empty."""
    keeper = _load()
    return keeper.find_replacement(project, path) if keeper else ""


def _load() -> Keeper | None:
    keeper: Keeper | None = import_string(_keeper) if _keeper else None  # commands that need none do not import it
    return keeper
