"""Stored sources for tests, under a clock that tests move."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import time_machine

from search.models import Source

State = Source.State
NOW = datetime(2100, 1, 1, tzinfo=UTC)  # so nothing here is due for services that other tests run


@contextmanager
def nothing_due() -> Iterator[time_machine.Traveller]:
    """A far future in which no source waits."""
    Source.objects.update(due_at=None, state=State.NEW, holder="")
    with time_machine.travel(NOW, tick=True) as traveller:
        yield traveller


def stored(tenant, location="/nowhere", name="docs", **facts):
    return Source.objects.create(project=tenant.project, name=name, location=str(location), **facts)


def paths(tenant):
    return set(tenant.project.documents.values_list("path", flat=True))


def now(source):
    source.refresh_from_db()
    return source
