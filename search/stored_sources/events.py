"""The events of sources for webhooks: a source was read, or could not be read."""

from docsite.core.delivery import events
from docsite.core.delivery.events import Description, EventType
from docsite.core.delivery.models import Event
from docsite.core.redaction import redact
from search.models import Source

READ, FAILED = "source.read", "source.failed"
COUNTS = ("added", "changed", "unchanged", "removed")
_MAX_ERROR = 300  # characters


def register() -> None:
    """Let owners choose these events for their webhooks."""
    events.add_event_type(EventType(READ, "A source was read", _describe_read))
    events.add_event_type(EventType(FAILED, "A source could not be read", _describe_failure))


def publish(source: Source, state: Source.State) -> None:
    """Publish how a run of a source has ended: `DONE` or `FAILED`. Call it in the transaction that stores it."""
    facts = {"source": source.pk, "name": source.name}
    if state == Source.State.FAILED:
        events.publish(source.project, FAILED, {**facts, "error": redact(source.error)[:_MAX_ERROR]})
    else:
        counts = {name: source.outcome.get(name, 0) for name in COUNTS}
        events.publish(source.project, READ, {**facts, "counts": counts})


def _describe_read(event: Event) -> Description:
    counts = event.facts["counts"]
    numbers = ", ".join(f"{counts[name]:,} {name}" for name in COUNTS)
    data = {"source": event.facts["name"]} | {f"pages{name.title()}": counts[name] for name in COUNTS}
    return Description(data, f"The source {event.facts['name']} was read. Pages: {numbers}.", _path(event))


def _describe_failure(event: Event) -> Description:
    data = {"source": event.facts["name"], "error": event.facts["error"]}
    sentence = f"The source {event.facts['name']} could not be read. {event.facts['error']}"
    return Description(data, sentence, _path(event))


def _path(event: Event) -> str:
    return f"/admin/search/source/{event.facts['source']}/change/"
