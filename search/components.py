"""What of search runs beside the requests."""

from collections.abc import Iterable

from django.db import DatabaseError

from docsite.core.components import Component, Finding
from docsite.core.components.metrics import Metric, gauge
from search.models import Source
from search.query_log import recording
from search.stored_sources import launcher, queue
from search.vectors import background as vectors


def measure_sources() -> Iterable[Metric]:
    """How many stored sources wait, and how many have failed."""
    failed = Source.objects.filter(state=Source.State.FAILED).count()
    yield gauge("docs_sources_due", "Stored sources that wait to be read.", queue.count_due())
    yield gauge("docs_sources_failed", "Stored sources that could not be read the last time.", failed)


def check_sources() -> Finding | None:
    """Stored sources that could not be read the last time."""
    try:
        failed = list(Source.objects.filter(state=Source.State.FAILED).values_list("project__domain", "name")[:5])
    except DatabaseError:
        return None  # the check of the database says why
    if failed:
        names = ", ".join(f"{domain}/{name}" for domain, name in failed)
        return Finding("Sources", f"could not be read: {names}", "Open them in the admin, which shows the reason.")
    return Finding("Sources", "none has failed")


COMPONENTS = (
    Component(name="recorded searches", flush=recording.flush, sweep=recording.sweep, erase=recording.erase),
    Component(
        name="stored sources", threads=(launcher.thread,), stored_metrics=measure_sources, doctor=(check_sources,)
    ),
    Component(name="vectors", threads=(vectors.thread,)),
)
