"""What an owner does about a group. Each action is stored with the person who did it, and is in the audit."""

from collections.abc import Sequence

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from assistant.golden_questions import checks
from assistant.models import GoldenQuestion, GroupAction, PinnedAnswer, QuestionGroup
from assistant.models.question_groups import MAX_QUESTION
from assistant.question_groups import events
from assistant.question_groups.pins import find_passage
from docsite.core.background import leases
from docsite.core.tenants.models import Project
from search.indexing import ingest

State = QuestionGroup.State
OPEN = (State.OPEN, State.ASSIGNED)


class ActionError(ValueError):
    """The action is not possible. The message is a sentence."""


class Actor:
    """A person who works on a group of a project."""

    def __init__(self, user: AbstractBaseUser, group: QuestionGroup) -> None:
        self.user = user
        self.group = group
        self.project: Project = group.project

    def add_note(self, text: str) -> None:
        """Write a note."""
        self._record("wrote a note", text)

    def assign(self, user: AbstractBaseUser | None) -> None:
        """Assign the group to a person, or to nobody."""
        self.group.assignee_id = user.pk if user else None
        self._set_state(State.ASSIGNED if user else State.OPEN, "assignee")
        self._record(f"assigned it to {user.get_username()}" if user else "assigned it to nobody")

    def dismiss(self) -> None:
        """Leave the group out of the open gaps."""
        self._set_state(State.DISMISSED)
        self._record("dismissed it")

    def reopen(self) -> None:
        """Make it an open gap again."""
        self._set_state(State.ASSIGNED if self.group.assignee_id else State.OPEN)
        self._record("opened it again")

    def mark_fixed(self, question: str) -> None:
        """Mark it as fixed, and have the question asked again: soon, and whenever the index was replaced."""
        self.group.question = " ".join(question.split())[:MAX_QUESTION]
        self.group.fixed_at = timezone.now()
        self.group.asked_at = self.group.answered_since = None
        self.group.asked_outcome, self.group.asked_paths = "", []
        with transaction.atomic():
            self._set_state(
                State.FIXED, "question", "fixed_at", "asked_at", "answered_since", "asked_outcome", "asked_paths"
            )
            self._ask_again()
        self._record("marked it as fixed")

    def pin(self, text: str, page: str) -> None:
        """Give this answer to the questions of the group. Raises `ActionError` if the index has no such page."""
        address, _, anchor = page.strip().partition("#")
        path = self.project.path_of(address)
        if find_passage(self.project, path, anchor) is None:
            raise ActionError(f"{page}: there is no such page in the index, or the page has no such section.")
        values = {"text": text.strip(), "path": path, "anchor": anchor, "project": self.project}
        PinnedAnswer.objects.update_or_create(group=self.group, defaults=values)
        self._ask_again()
        self._record(f"pinned an answer that cites {path}")

    def unpin(self) -> None:
        """Remove the pinned answer."""
        for pin in PinnedAnswer.objects.filter(group=self.group):
            pin.delete()
            self._ask_again()
            self._record("removed the pinned answer")

    def add_words(self, path: str, words: Sequence[str]) -> bool:
        """Replace the words that are added to a page for search. Returns whether they apply already."""
        if not self.project.documents.filter(path=path).exists():
            raise ActionError(f"{path}: there is no such page in the index.")
        applied = ingest.set_words(self.project, path, "\n".join(words))
        self._record(f"added words to {path}" if words else f"removed the words of {path}", "\n".join(words))
        return applied

    def make_golden(self, question: str, paths: Sequence[str]) -> None:
        """Make it a golden question. An existing one with the same words gets these pages."""
        text = " ".join(question.split())[:MAX_QUESTION]
        golden, _ = GoldenQuestion.objects.get_or_create(project=self.project, text=text)
        golden.paths = list(dict.fromkeys(self.project.path_of(path) for path in paths))
        checks.reset(golden)
        golden.save()
        self._record("made it a golden question")

    def _set_state(self, state: QuestionGroup.State, *changed: str) -> None:
        was_open = self.group.state in OPEN
        self.group.state = state
        with transaction.atomic():
            self.group.save(update_fields=["state", *changed])
            if was_open != (state in OPEN):
                events.publish_state(self.group)

    def _ask_again(self) -> None:
        """Have the question asked. What is asked now with the words of before is not stored."""
        QuestionGroup.objects.filter(pk=self.group.pk).update(asked_generation=None, **leases.NOBODY)

    def _record(self, action: str, note: str = "") -> None:
        username = self.user.get_username()[:150]
        facts = {"actor": username, "action": action[:200], "note": note}
        with transaction.atomic():  # with the audit's entry, or not at all
            GroupAction.objects.create(project=self.project, group=self.group, **facts)
