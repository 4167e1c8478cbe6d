"""The signal by which other apps check a new index before readers see it."""

from dataclasses import dataclass

from django.dispatch import Signal


@dataclass(frozen=True)
class IndexWarning:
    """A sentence about a staged index. If `stops`, a strict ingest fails."""

    sentence: str
    stops: bool = True


# Sent when an index is staged, before the transaction that swaps it in. No lock is held, so a receiver may be slow.
# Receivers get the `project` and `preview`, a function that returns a context manager: within `with preview():`
# searches find the staged index. Receivers return a list of `IndexWarning` and must not write.
index_staged = Signal()
