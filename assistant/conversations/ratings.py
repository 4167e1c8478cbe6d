"""The ratings of answers by readers. The app that stores them registers how to find them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from django.db.models import QuerySet

from assistant.models import Message
from docsite.core.tenants.models import Project


@dataclass(frozen=True)
class Rating:
    """What a reader thinks of an answer. `helpful` is the thumb, if the reader gave one."""

    helpful: bool | None
    comment: str

    @property
    def thumb(self) -> str:
        """As filters name it."""
        return {True: "up", False: "down", None: ""}[self.helpful]


class Ratings(Protocol):
    """Where ratings are stored."""

    def rated(self, project: Project, *, helpful: bool) -> "QuerySet[Message]":
        """Select the answers of a project with this thumb: their primary keys, for a subquery."""

    def load(self, answers: Iterable[int]) -> dict[int, Rating]:
        """Load the ratings of some answers, by the answer's primary key."""

    def redact(self, answers: Iterable[int]) -> int:
        """Replace personal data in the comments on some answers. Returns how many changed."""


_ratings: Ratings | None = None


def register(ratings: Ratings) -> None:
    """Use these ratings."""
    global _ratings
    _ratings = ratings


def get_ratings() -> Ratings:
    """The ratings, as the analytics app registered them."""
    assert _ratings is not None
    return _ratings
