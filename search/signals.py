"""The signals by which other apps look at a new index before readers see it."""

from dataclasses import dataclass, field
from typing import Any

from django.dispatch import Signal


@dataclass(frozen=True)
class IndexWarning:
    """A sentence about a staged index. If `stops`, a strict ingest fails."""

    sentence: str
    stops: bool = True


@dataclass(frozen=True)
class IndexEffect:
    """What a new index changes for the data of another app. `facts` is JSON; reports show it under `name`.

    The source keeps `kept` in its outcome, until a later comparison has another one under this name.
    """

    name: str
    facts: dict[str, Any]
    kept: dict[str, Any] = field(default_factory=dict)


# Sent when an index is staged, before the transaction that swaps it in. No lock is held, so a receiver may be slow.
# Receivers get the `project` and `preview`, a function that returns a context manager: within `with preview():`
# searches find the staged index. Receivers return a list of `IndexWarning` and must not write.
index_staged = Signal()

# Sent under the same conditions when an index is compared with the one that readers see. Receivers also get `removed`,
# the paths of the pages that would go, and `is_preview`, whether the staged index will be discarded. They return a list
# of `IndexEffect` and must not write.
index_compared = Signal()

# Sent when readers see an index that was compared. Receivers get the `source`, and the `effects` of the comparison.
index_swapped = Signal()
