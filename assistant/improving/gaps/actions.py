"""What an owner does about a group. Each action is stored with the person who did it, and is in the audit."""

from collections.abc import Sequence

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from assistant.improving.golden_questions import checks
from assistant.improving.question_groups import events
from assistant.improving.question_groups.pins import find_passage
from assistant.models import GoldenQuestion, GroupAction, PinnedAnswer, QuestionGroup
from assistant.models.question_groups import MAX_QUESTION
from docsite.core.background import leases
from docsite.core.tenants.models import Project
from search.indexing import ingest

State = QuestionGroup.State
OPEN = (State.OPEN, State.ASSIGNED)


class ActionError(ValueError):
    """The action is not possible. The message is a sentence."""


class Actor:
    """Who acts on a group of questions, by name. Each action returns a sentence that says what it has done."""

    def __init__(self, name: str, group: QuestionGroup) -> None:
        self.name = name
        self.group = group
        self.project: Project = group.project

    def add_note(self, note: str) -> str:
        """Write a note."""
        self._record("wrote a note", note)
        return "The note is stored."

    def assign(self, assignee: AbstractBaseUser | None) -> str:
        """Assign the group to a person, or to nobody."""
        self.group.assignee_id = assignee.pk if assignee else None
        self._set_state(State.ASSIGNED if assignee else State.OPEN, "assignee")
        name = assignee.get_username() if assignee else "nobody"
        self._record(f"assigned it to {name}")
        return f"Assigned to {name}."

    def dismiss(self) -> str:
        """Leave the group out of the open gaps."""
        self._set_state(State.DISMISSED)
        self._record("dismissed it")
        return "Dismissed. Its questions are no longer among the open gaps."

    def reopen(self) -> str:
        """Make it an open gap again."""
        self._set_state(State.ASSIGNED if self.group.assignee_id else State.OPEN)
        self._record("opened it again")
        return "Open again."

    def mark_fixed(self, question: str) -> str:
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
        return "Marked as fixed. The question is asked again now, and whenever pages have changed."

    def pin(self, text: str, page: str) -> str:
        """Give this answer to the questions of the group. Raises `ActionError` if the index has no such page."""
        address, _, anchor = page.strip().partition("#")
        path = self.project.path_of(address)
        if find_passage(self.project, path, anchor) is None:
            raise ActionError(f"{page}: there is no such page in the index, or the page has no such section.")
        values = {"text": text.strip(), "path": path, "anchor": anchor, "project": self.project}
        PinnedAnswer.objects.update_or_create(group=self.group, defaults=values)
        self._ask_again()
        self._record(f"pinned an answer that cites {path}")
        return "Pinned. It applies from the next question on."

    def unpin(self) -> str:
        """Remove the pinned answer."""
        for pin in PinnedAnswer.objects.filter(group=self.group):
            pin.delete()
            self._ask_again()
            self._record("removed the pinned answer")
        return "The pinned answer is removed."

    def add_words(self, path: str, words: Sequence[str]) -> str:
        """Set the extra words under which search finds a page. Raises `ActionError` if the index has no such page."""
        path = self.project.path_of(path)
        if not self.project.documents.filter(path=path).exists():
            raise ActionError(f"{path}: there is no such page in the index.")
        applied = ingest.set_words(self.project, path, "\n".join(words))
        self._record(f"added words to {path}" if words else f"removed the words of {path}", "\n".join(words))
        return "Stored, and searched from now on." if applied else "Stored. It is searched after the next ingest."

    def make_golden(self, question: str, paths: Sequence[str]) -> str:
        """Make it a golden question. An existing one with the same words gets these pages."""
        text = " ".join(question.split())[:MAX_QUESTION]
        golden, _ = GoldenQuestion.objects.get_or_create(project=self.project, text=text)
        golden.paths = list(dict.fromkeys(self.project.path_of(path) for path in paths))
        checks.reset(golden)
        golden.save()
        self._record("made it a golden question")
        return "Stored as a golden question."

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
        facts = {"actor": self.name[:150], "action": action[:200], "note": note}
        with transaction.atomic():  # with the audit's entry, or not at all
            GroupAction.objects.create(project=self.project, group=self.group, **facts)
