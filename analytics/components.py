"""What of analytics runs beside the requests."""

from collections.abc import Iterable

from analytics import erasure
from analytics.collecting import writer
from analytics.counting import background as counting
from analytics.counting.unsealed import count_waiting_views
from analytics.feedback import store as feedback
from docsite.core.components import Component, Finding
from docsite.core.components.metrics import Metric, gauge
from docsite.core.http import dates

MAX_WAITING_VIEWS = 100_000


def apply_left_out() -> None:
    """Remove stored views that projects leave out since their lists have changed."""
    from analytics.counting import recount  # imports numpy

    recount.apply_left_out()


def measure_views() -> Iterable[Metric]:
    """How many views wait to be counted."""
    yield gauge("docs_views_waiting", "Views that are stored, but not yet counted.", count_waiting_views())


def check_views() -> Finding:
    """Views that are stored, but not yet counted."""
    waiting = count_waiting_views()
    advice = "Is a process serving? Or run: manage.py seal" if waiting > MAX_WAITING_VIEWS else ""
    return Finding("Views", f"{waiting:,} wait to be counted", advice)


COMPONENTS = (
    # Its thread also sweeps single views, visit histories and visitor secrets, each project once a day.
    Component(
        name="views",
        start=dates.list_zones,
        threads=(counting.thread,),
        flush=writer.flush,
        sweep=apply_left_out,
        erase=erasure.erase,
        stored_metrics=measure_views,
        doctor=(check_views,),
    ),
    Component(name="feedback", sweep=feedback.sweep),
)
