"""Compares what two indexes answer to the same questions."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from django.utils import timezone

from docsite.core.tenants.models import Project
from docsite.extras.replay import comment, held
from docsite.extras.replay.answers import ANSWERED, Answer, Asker
from docsite.extras.replay.asked import Asked, find_asked
from search.signals import IndexEffect

MAX_SECONDS = 60.0  # in which questions are asked of each index
MAX_KEPT = 50  # rows of each kind that a source keeps
LOST, WON, SAME = "lost", "won", "same"

Preview = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Row:
    """A group of questions with its answers before and after."""

    asked: Asked
    before: Answer
    after: Answer

    @property
    def change(self) -> str:
        """Whether the answer, or the page that readers opened, is lost or won."""
        before, after = (answer.state == ANSWERED for answer in (self.before, self.after))
        placed_before, placed_after = (answer.place is not None for answer in (self.before, self.after))
        if (before and not after) or (placed_before and not placed_after):
            return LOST
        return WON if (after and not before) or (placed_after and not placed_before) else SAME

    def to_json(self) -> dict[str, Any]:
        """The row as a JSON object. Passages are only in rows that changed."""
        asked, has_changed = self.asked, self.change != SAME
        return {
            "question": asked.shown,
            "asked": asked.times,
            "latest": asked.latest.date().isoformat(),
            "opened": asked.opened or None,
            "change": self.change,
            "before": self.before.to_json(with_passage=has_changed),
            "after": self.after.to_json(with_passage=has_changed),
        }


@dataclass(frozen=True)
class Replay:
    """The questions of a project, each asked of the old and of the new index.

    `found` is the number of all groups: more than there are rows if the time was up.
    """

    rows: Sequence[Row]
    found: int

    def select(self, change: str) -> list[Row]:
        """The rows with a change, those asked most often first."""
        return sorted((row for row in self.rows if row.change == change), key=lambda row: -row.asked.times)

    @property
    def times(self) -> int:
        """How often all of them were asked."""
        return sum(row.asked.times for row in self.rows)

    @property
    def shares(self) -> tuple[float, float]:
        """The answered shares (0 to 1) before and after, weighted by how often each was asked."""
        before = sum(row.asked.times for row in self.rows if row.before.state == ANSWERED)
        after = sum(row.asked.times for row in self.rows if row.after.state == ANSWERED)
        return before / (self.times or 1), after / (self.times or 1)

    def summarize(self) -> dict[str, int]:
        """The numbers of groups."""
        return {
            "found": self.found,
            "groups": len(self.rows),
            "answeredBefore": sum(row.before.state == ANSWERED for row in self.rows),
            "answeredAfter": sum(row.after.state == ANSWERED for row in self.rows),
            "lost": sum(row.change == LOST for row in self.rows),
            "won": sum(row.change == WON for row in self.rows),
        }

    def to_json(self) -> dict[str, Any]:
        """All of it as a JSON object."""
        return {**self.summarize(), "rows": [row.to_json() for row in self.rows]}

    def keep(self) -> dict[str, Any]:
        """What a source keeps of it for the page in the admin: the numbers, and the first rows that changed.

        A question is kept as an id: it is forgotten when its reader's data is erased.
        """
        changed = [row for change in (LOST, WON) for row in self.select(change)[:MAX_KEPT]]
        names = ("asked", "opened", "change", "before", "after")
        return {
            **self.summarize(),
            "at": timezone.now().isoformat(),
            "times": self.times,
            "shares": self.shares,
            "rows": [
                {"search" if row.asked.is_search else "question": row.asked.newest}
                | {name: value for name, value in row.to_json().items() if name in names}
                for row in changed
            ],
        }


def compare(project: Project, questions: Sequence[Asked], preview: Preview | None) -> Replay:
    """Ask the present index, and within `preview()` the new one. After `MAX_SECONDS` with either no question begins.

    Without a preview nothing changes, so each question is asked once.
    """
    old = Asker(project)
    before = _ask(old, questions)
    after = before
    if preview:
        with preview():
            after = _ask(Asker(project, old.titles), questions[: len(before)])
    return Replay([Row(*row) for row in zip(questions, before, after, strict=False)], len(questions))


def _ask(asker: Asker, questions: Sequence[Asked]) -> list[Answer]:
    until = time.monotonic() + MAX_SECONDS
    return [asker.ask(asked) for asked in takewhile(lambda _: time.monotonic() < until, questions)]


def find_effects(project: Project, preview: Preview) -> list[IndexEffect]:
    """What a preview tells of readers' questions; nothing if there is none."""
    if not (questions := find_asked(project)):
        return []
    replay = compare(project, questions, preview)
    markdown = "\n".join([*comment.describe_replay(replay), *comment.describe_closed(held.find_closed(project))])
    return [
        IndexEffect("replay", replay.to_json(), kept=replay.keep()),
        IndexEffect("replayComment", {"markdown": markdown}),
    ]
