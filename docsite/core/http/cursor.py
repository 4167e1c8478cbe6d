"""Where the next page of a list begins. A cursor is opaque to clients and signed, so that nobody can forge one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.core import signing


class Moment(NamedTuple):
    """The position of a row in a list by time: its time, and its primary key among rows of the same time."""

    at: datetime
    pk: int


@dataclass(frozen=True)
class Cursor:
    """The position after which a list of a date range continues. `place` holds JSON values that the list defines."""

    list_name: str
    start: datetime
    end: datetime
    place: list[Any]

    def __str__(self) -> str:
        """The cursor as clients see it: letters, digits, `-`, `_` and `.`."""
        state = [self.list_name, self.start.isoformat(), self.end.isoformat(), self.place]
        return _signer().sign_object(state, compress=True)


def parse(text: str) -> Cursor:
    """Parse a cursor that a client sends. Raises ValueError when this service did not issue it."""
    try:
        list_name, start, end, place = _signer().unsign_object(text)
    except signing.BadSignature:
        raise ValueError("was not issued by this service") from None
    return Cursor(list_name, datetime.fromisoformat(start), datetime.fromisoformat(end), place)


def _signer() -> signing.Signer:
    return signing.Signer(salt="docsite.http.cursor", sep=".")
