"""What of the view log runs beside the requests. Without `VIEW_LOG_URL` each function does nothing."""

from collections.abc import Iterable

from docsite.core.components import Component, Finding
from docsite.core.components.metrics import Metric, gauge
from docsite.extras.view_log import connection, consumer, publisher, state
from docsite.extras.view_log.connection import LogUnavailableError
from docsite.extras.view_log.settings import read_url

MAX_LOGGED_SECONDS = 60.0
HEALTH_SECONDS = 1.0  # less than a check of readiness may take


def find_problem() -> str | None:
    """“ok”, or why the log takes no views, without naming a host. None without a log."""
    if not read_url():
        return None
    try:
        state.read(HEALTH_SECONDS)
    except LogUnavailableError:
        return "the view log does not work"
    return "ok"


def measure_availability() -> Iterable[Metric]:
    """Whether the log answers."""
    if read_url():
        working = Metric("docs_store_up", "gauge", "Whether a store answers: 1 or 0.")
        working.add(connection.dependency.is_available, {"store": "view_log"})
        yield working


def measure_log() -> Iterable[Metric]:
    """What waits in the log, the same in every process; zeros without a log, nothing while it does not answer."""
    messages, age, refused = 0, 0.0, 0
    if read_url():
        try:
            waiting, refused = state.read(), state.count_refused()
        except LogUnavailableError:  # docs_store_up says so
            return
        messages, age = waiting.messages, waiting.oldest_seconds
    yield gauge("docs_view_log_messages", "Messages in the view log that are not in the database yet.", messages)
    yield gauge(
        "docs_view_log_waiting_seconds",
        "Age in seconds of the oldest message in the view log that is not in the database yet.",
        age,
    )
    yield gauge("docs_view_log_refused", "Messages that could not be stored, and wait for a person.", refused)


def check_log() -> Finding | None:
    """Whether the log answers, is fit to hold views, and is emptied. None without one."""
    if not read_url():
        return None
    try:
        waiting, refused = state.read(), state.count_refused()
    except LogUnavailableError as failure:
        advice = "Look at VIEW_LOG_URL and the servers of NATS: JetStream must be on, with room on the disk."
        return Finding("View log", f"it does not work: {failure}", advice)
    fact = (
        f"{waiting.messages:,} messages wait for the database, the oldest for {waiting.oldest_seconds:.0f} seconds; "
        f"replicas: {waiting.replicas}; refused: {refused:,}"
    )
    if waiting.oldest_seconds > MAX_LOGGED_SECONDS:
        return Finding("View log", fact, "Check that a serving process or `manage.py worker` runs, and read its log.")
    if refused:
        return Finding(
            "View log",
            fact,
            "The log file has the reason of each refused message: search it for “goes to docs_views_refused”.",
        )
    return Finding("View log", fact)


COMPONENTS = (
    Component(
        name="views",  # the key of `/health/ready`
        threads=(consumer.thread,),
        flush=publisher.flush,
        health=find_problem,
        stored_metrics=measure_log,
        doctor=(check_log,),
        metrics=measure_availability,
    ),
)
