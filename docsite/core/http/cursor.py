"""Where a list goes on. Opaque to clients, and signed: what we did not write is refused."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.core import signing

_SIGNER = signing.Signer(salt="docsite.http.cursor", sep=".")


class Moment(NamedTuple):
    """A row of a list by time: when it came, and its key among those of that time."""

    at: datetime
    pk: int


@dataclass(frozen=True)
class Cursor:
    """The place after which a list of a range goes on. `place` is what that list makes of it, in types of JSON."""

    of: str  # which list
    start: datetime
    end: datetime
    place: list[Any]

    def __str__(self) -> str:
        """The cursor as it is given out: letters, digits, `-`, `_` and `.`."""
        state = [self.of, self.start.isoformat(), self.end.isoformat(), self.place]
        return _SIGNER.sign_object(state, compress=True)


def parse(text: str) -> Cursor:
    """Read a cursor that was given out. Raises ValueError."""
    try:
        of, start, end, place = _SIGNER.unsign_object(text)
    except signing.BadSignature:
        raise ValueError("is not one that this service gave out") from None
    return Cursor(of, datetime.fromisoformat(start), datetime.fromisoformat(end), place)
