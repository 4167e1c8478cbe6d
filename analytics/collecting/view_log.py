"""A log that acknowledges views before the database has them, where one is installed."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analytics.collecting.writer import Receipt, View


@dataclass(frozen=True)
class ViewLog:
    """The functions of an installed log. `submit` takes the public id of a project, and its views."""

    submit: Callable[[str, "Sequence[View]"], "Future[Receipt]"]
    # As `wait_until_stored` below.
    wait_until_stored: Callable[[float], bool]


_find: Callable[[], ViewLog | None] | None = None


def install(find: Callable[[], ViewLog | None]) -> None:
    """Let a log acknowledge views from now on, whenever `find` returns it. Call it in `AppConfig.ready`."""
    global _find
    _find = find


def find() -> ViewLog | None:
    """The log of this deployment, if it has one."""
    return _find() if _find else None


def wait_until_stored(seconds: float) -> bool:
    """Wait until the database has every view that was acknowledged before the call. False if it takes longer.

    Returns True at once if there is no log.
    """
    log = find()
    return log is None or log.wait_until_stored(seconds)
