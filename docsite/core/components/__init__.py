"""The parts of the service that live longer than a request. Each is declared once; the server loops over all of them.

An app names its module of components in `AppConfig.ready`: `components.register("search.components")`. The module has
a tuple `COMPONENTS`, and is imported when a process needs it, so commands that do not serve start without it.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from docsite.core.background import BackgroundThread
from docsite.core.components.erasure import Subject
from docsite.core.components.metrics import Metric

Step = Callable[[], Any]  # what it returns is of no interest

_modules: list[str] = []


@dataclass(frozen=True)
class Finding:
    """A fact about the set-up, and what the operator should do about it. Without advice all is well."""

    subject: str
    fact: str
    advice: str = ""


@dataclass(frozen=True, kw_only=True)
class Component:
    """A part of the service. A function that is missing means that there is nothing to do.

    All functions but `drain` run in a thread and may block. Those of a start run in the order of registration, those of
    an end and of an erasure in the opposite order: what an app stores last may still need the apps below it, and it
    finds what to erase by their rows.
    """

    name: str  # in lines of the log (“store the last …”), and as a key of /health/ready
    recover: Step | None = None  # mend what an earlier process left behind, before this one answers requests
    start: Step | None = None  # at the start of each process
    threads: tuple[BackgroundThread, ...] = ()  # work beside the requests, which any process may do
    drain: Callable[[], Awaitable[object]] | None = None  # end running work of readers, before the last requests end
    flush: Step | None = None  # store what waits in memory, at the end of a process
    sweep: Step | None = None  # delete what is stored for a limited time: once an hour, in one process of all
    # Delete what readers left: how many rows of each kind. Raises `NotErasable` before anything is deleted.
    erase: Callable[[Subject], Mapping[str, int]] | None = None
    count: Callable[[Subject], Mapping[str, int]] | None = None  # what of some kinds `erase` would delete
    find_reader: Callable[[Subject], str] | None = None  # the fp of a reader whom the id of a conversation may name
    health: Callable[[], str | None] | None = None  # “ok”, or why this process should get no requests; None: not in use
    metrics: Callable[[], Iterable[Metric]] | None = None  # of this process; does not wait for anything
    stored_metrics: Callable[[], Iterable[Metric]] | None = None  # of a store, the same in every process
    # What of the set-up does not work, and what to do. A DatabaseError ends a check: that of the database says why.
    doctor: tuple[Callable[[], Finding | None], ...] = ()


def register(module: str) -> None:
    """Add the components of a module, by its dotted name. Call it in `AppConfig.ready`."""
    if module not in _modules:
        _modules.append(module)


@cache
def load() -> tuple[Component, ...]:
    """All components, in the order of registration, which is that of the installed apps."""
    return tuple(component for module in _modules for component in import_module(module).COMPONENTS)
