"""Finds the questions that pass the filters of the list of conversations, newest first.

The filters are about answers, and each answer that passes them is a row, so that the list has as many rows as reports
count. Searches for text and exports have a row for each conversation instead: that of its latest answer that passes.
The index `answer_facts` holds the columns of all filters but the text and the citations. Texts are searched in steps,
so that a page never reads more than `MAX_SEARCHED` answers. Citations are in no index: that filter reads the sources of
every answer of the range, once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Left

from assistant.admin.conversations.list_state import ListState
from assistant.conversations import outcomes, ratings
from assistant.conversations.report import cites
from assistant.models import Message
from docsite.core.http import cursor
from docsite.core.http.cursor import Cursor, Moment
from docsite.core.tenants.models import Project

PAGE_SIZE = 50
MAX_SEARCHED = 10_000  # answers whose texts one page searches
MAX_BEGINNING = 200  # characters of a question
LIST_NAME = "conversations"
_COLUMNS = {
    "caller": "caller",
    "rung": "rung",
    "language": "language",
    "version": "filter_version",
}


@dataclass(frozen=True)
class Entry:
    """A row of the list: the primary keys of an answer and of its thread."""

    answer: int
    thread: int
    at: datetime

    @property
    def place(self) -> Moment:
        """Its position."""
        return Moment(self.at, self.answer)


@dataclass(frozen=True)
class Page:
    """A page of the list. `next` is where the next one begins, None at the end.

    `searched_to` is set if the text was searched only back to this time.
    """

    entries: list[Entry]
    next: Moment | None
    searched_to: datetime | None = None


@dataclass(frozen=True)
class Listing:
    """The answers of a project from `start` to before `end` that pass the filters of `state`.

    With `by_conversation`, only the latest one of each conversation, as in any search for text.
    """

    project: Project
    state: ListState
    start: datetime
    end: datetime
    by_conversation: bool = False

    def load_page(self, after: Moment | None, size: int = PAGE_SIZE) -> Page:
        """Load the answers behind a position, newest first."""
        answers = _behind(self._answers(), after)
        floor = self._find_floor(answers) if self.state.q else None
        entries = self._load(answers, floor, "-created_at", "-pk", limit=size + 1)
        if len(entries) > size:
            return Page(entries[:size], entries[size - 1].place)
        return Page(entries, Moment(floor, 0) if floor else None, floor)

    def find_neighbours(self, thread: int) -> tuple[Entry | None, Entry | None]:
        """Find the conversations before (newer) and after (older) a conversation in a list by conversation."""
        own = Message.objects.filter(self._filters(), thread=thread, created_at__lt=self.end).order_by("-pk")
        place = own.values_list("created_at", "pk").first()
        if place is None or place[0] < self.start:
            return None, None
        here = Moment(*place)
        following = self.load_page(here, 1).entries
        newer = self._answers().filter(created_at__gte=here.at).exclude(created_at=here.at, pk__lte=here.pk)
        if self.state.q:
            newest = newer.order_by("created_at").values_list("created_at", flat=True)[MAX_SEARCHED:][:1]
            newer = newer.filter(created_at__lt=newest[0]) if newest else newer
        preceding = self._load(newer, None, "created_at", "pk", limit=1)
        return (preceding[0] if preceding else None), (following[0] if following else None)

    def count_outcomes(self) -> Counter[str]:
        """Count the answers that pass all other filters by their outcome."""
        counted = self._answers(without="outcome").order_by().values_list("outcome").annotate(answers=Count("*"))
        return Counter(dict(counted))

    def list_values(self) -> tuple[list[str], list[str]]:
        """The languages of questions and the filters by version that occur in the range."""
        answers = Message.objects.filter(self._in_range).order_by()
        pairs = list(answers.values_list("language", "filter_version").distinct())
        return sorted({language for language, _ in pairs if language}), sorted(
            {version for _, version in pairs if version}
        )

    def cursor(self, place: Moment) -> str:
        """The cursor of a position. It keeps the range, which else moves with the clock."""
        return str(Cursor(LIST_NAME, self.start, self.end, [place.at.isoformat(), place.pk]))

    @property
    def _in_range(self) -> Q:
        return Q(project=self.project, outcome__isnull=False, created_at__gte=self.start, created_at__lt=self.end)

    @cached_property
    def _is_citing(self) -> Q:
        """The condition that an answer of the range cites the page of the filter: by keys, unless they are many."""
        condition = cites(self.project, self.state.cites)
        found = Message.objects.filter(self._in_range, condition).order_by().values_list("pk", flat=True)
        keys = list(found[: MAX_SEARCHED + 1])
        return condition if len(keys) > MAX_SEARCHED else Q(pk__in=keys)

    def _answers(self, *, without: str = "") -> "QuerySet[Message]":
        """The answers that pass the filters, but for the text."""
        return Message.objects.filter(self._in_range, self._filters(without))

    def _filters(self, without: str = "") -> Q:
        chosen = Q(outcome__isnull=False)
        if without != "outcome" and self.state.outcome:
            chosen &= Q(outcome__in=outcomes.select(self.state.outcome))
        for name, lookup in _COLUMNS.items():
            if name != without and (value := getattr(self.state, name)):
                chosen &= Q(**{lookup: value})
        if path := self.state.path:
            chosen &= Q(**{"page_path" if path.startswith("/") else "page_path__icontains": path})
        if self.state.cites:
            chosen &= self._is_citing
        if self.state.thumb:
            chosen &= Q(pk__in=ratings.get_ratings().rated(self.project, helpful=self.state.thumb == "up"))
        return chosen

    def _load(self, answers: "QuerySet[Message]", floor: datetime | None, *order: str, limit: int) -> list[Entry]:
        """Load the first answers in an order."""
        latest = answers
        if self.by_conversation or self.state.q:
            later = Message.objects.filter(self._filters(), thread=OuterRef("thread"), pk__gt=OuterRef("pk"))
            latest = answers.exclude(Exists(later.filter(created_at__lt=self.end)))
        if self.state.q:
            texts = Message.objects.filter(thread=OuterRef("thread"), content__icontains=self.state.q)
            # Not EXISTS: PostgreSQL would search all texts first, then join.
            latest = latest.annotate(match=Subquery(texts.order_by().values("pk")[:1])).filter(match__isnull=False)
            latest = latest.filter(created_at__gte=floor) if floor else latest
        rows = latest.order_by(*order).values_list("pk", "thread", "created_at")[:limit]
        return [Entry(answer, int(thread), at) for answer, thread, at in rows]

    def _find_floor(self, answers: "QuerySet[Message]") -> datetime | None:
        """The time of the last answer whose text this page searches. None if it can search all."""
        times = answers.order_by("-created_at").values_list("created_at", flat=True)
        return next(iter(times[MAX_SEARCHED : MAX_SEARCHED + 1]), None)


def parse_cursor(text: str) -> tuple[datetime, datetime, Moment]:
    """The range and the position of a cursor. Raises ValueError when this list did not issue it."""
    parsed = cursor.parse(text)
    if parsed.list_name != LIST_NAME:
        raise ValueError("was not issued by this list")
    at, pk = parsed.place
    return parsed.start, parsed.end, Moment(datetime.fromisoformat(at), pk)


def _behind(answers: "QuerySet[Message]", after: Moment | None) -> "QuerySet[Message]":
    if after is None:
        return answers
    return answers.filter(created_at__lte=after.at).exclude(created_at=after.at, pk__gte=after.pk)


def load_turns(entries: Sequence[Entry]) -> dict[int, list[Any]]:
    """The messages of some conversations, oldest first, by thread: with the `beginning` of their text only."""
    found: dict[int, list[Any]] = {entry.thread: [] for entry in entries}
    turns = Message.objects.filter(thread__in=found).order_by("pk").annotate(beginning=Left("content", MAX_BEGINNING))
    for turn in turns.defer("content", "steps", "sources", "hits", "checks", "context"):
        found[turn.thread_id].append(turn)
    return found
