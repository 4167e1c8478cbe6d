"""What others may say of a new index before readers get it."""

from dataclasses import dataclass

from django.dispatch import Signal


@dataclass(frozen=True)
class Warned:
    """A sentence about the new index. `stops` says whether a strict ingest is refused for it."""

    sentence: str
    stops: bool = True


# Sent inside the swap's transaction: its receivers read the new index already, everybody else the old one. They get
# the `project` and return a list of `Warned`. What they write is undone, and writers elsewhere wait for them.
swapping = Signal()
