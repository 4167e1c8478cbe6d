"""Questions and searches of readers in groups of the same meaning, and what the owner does about a group."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from assistant.models.conversations import Message
from docsite.core.background.leases import Leased
from docsite.core.tenants.models import Project
from search.models import SearchQuery

MAX_QUESTION = 500  # characters


class QuestionGroup(Leased):
    """Questions with nearly the same words. The first one founds the group, and its words stay the group's."""

    class State(models.TextChoices):
        """What the owner does about it."""

        OPEN = "open", "Open"
        ASSIGNED = "assigned", "Assigned"
        DISMISSED = "dismissed", "Dismissed"
        FIXED = "fixed", "Fixed"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="question_groups")
    terms = models.TextField(help_text="The index terms of the first question, sorted, with a space around each.")
    key = models.CharField(max_length=32, help_text="Digest of the terms.")
    state = models.CharField(max_length=9, choices=State.choices, default=State.OPEN)
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    question = models.CharField(
        max_length=MAX_QUESTION, blank=True, help_text="The question that is asked again, in the owner's words."
    )
    has_problem = models.BooleanField(default=False, help_text="Whether one of its questions was a gap.")
    nearest = models.JSONField(default=list, help_text="Paths of the pages nearest to its latest question.")
    chance = models.FloatField(null=True, help_text="That they answer it, 0 to 1.")
    nearest_generation = models.PositiveIntegerField(
        null=True, help_text="The generation of the index in which they were found. Empty: to be looked for."
    )
    fixed_at = models.DateTimeField(null=True)
    asked_generation = models.PositiveIntegerField(
        null=True, help_text="The generation of the index with which the question was asked again."
    )
    asked_at = models.DateTimeField(null=True)
    asked_outcome = models.CharField(max_length=16, choices=Message.Outcome.choices, blank=True)
    asked_paths = models.JSONField(default=list, help_text="Pages that the new answer cites.")
    answered_since = models.DateTimeField(
        null=True, help_text="Since when every repetition was answered. Empty: the last one was not."
    )

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "key"], name="one_group_a_key")]
        indexes: ClassVar = [
            models.Index(fields=["project", "state"], condition=~models.Q(state="open"), name="groups_with_a_state"),
            models.Index(
                fields=["id"],
                condition=models.Q(has_problem=True, nearest_generation__isnull=True),
                name="groups_without_pages",
            ),
        ]

    def __str__(self) -> str:
        return f"question group {self.pk}"

    def find_latest_wording(self) -> str:
        """Its latest question or search; empty where none is left."""
        newest = self.questions.order_by("-at", "-pk").values_list("question__content", "search__text").first()
        return next(filter(None, newest or ()), "")


class GroupedQuestion(models.Model):
    """A question to the assistant, or a search that found nothing or was not followed by a click, in its group.

    It repeats a few facts of the message, so that reports read short rows. It is deleted with the message or search.
    """

    class Problem(models.TextChoices):
        """Why the reader was perhaps not helped."""

        REFUSED = "refused", "Refused"
        CLOSEST_PASSAGES = "closest_passages", "Only closest passages"
        UNSUPPORTED = "unsupported", "Answer without a source"
        CUT = "cut", "Cut off"
        FAILED = "failed", "Failed"
        DISLIKED = "disliked", "Thumb down"
        NO_RESULT = "no_result", "Search without result"
        NO_CLICK = "no_click", "Search without click"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    group = models.ForeignKey(
        QuestionGroup, on_delete=models.CASCADE, related_name="questions", null=True, db_index=False
    )  # greetings have none
    at = models.DateTimeField()
    problem = models.CharField(max_length=16, choices=Problem.choices, null=True)  # noqa: DJ001  # null: an index leaves it out
    outcome = models.CharField(max_length=16, choices=Message.Outcome.choices, blank=True)
    rung = models.CharField(max_length=20, blank=True)
    caller = models.CharField(max_length=5, blank=True)
    language = models.CharField(max_length=2, blank=True)
    page_path = models.CharField(max_length=400, blank=True)
    question = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="+", null=True)
    answer = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="grouped", null=True)
    search = models.OneToOneField(SearchQuery, on_delete=models.CASCADE, related_name="grouped", null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["project", "at", "group", "problem"],
                condition=models.Q(problem__isnull=False),
                name="problems_by_time",
            ),
            models.Index(  # every column that the report of questions reads, so that it reads no row
                fields=[
                    *("project", "at", "outcome", "group", "page_path", "rung", "caller", "language", "answer"),
                ],
                condition=models.Q(answer__isnull=False),
                name="questions_by_time",
            ),
            models.Index(fields=["group", "at", "outcome", "problem"], name="questions_of_a_group"),
        ]

    def __str__(self) -> str:
        return f"question {self.pk} of group {self.group_id}"


class GroupingProgress(models.Model):
    """How far the messages and searches of all projects are grouped: one row."""

    answer = models.PositiveBigIntegerField(default=0, help_text="All answers up to this id are grouped.")
    search = models.PositiveBigIntegerField(default=0, help_text="All searches up to this id are grouped.")

    def __str__(self) -> str:
        return f"grouped up to answer {self.answer} and search {self.search}"


class PinnedAnswer(models.Model):
    """The owner's own answer to the questions of a group, with the page that it cites."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="pinned_answers")
    group = models.OneToOneField(QuestionGroup, on_delete=models.CASCADE, related_name="pin")
    text = models.TextField(help_text="Markdown.")
    path = models.CharField(max_length=400)
    anchor = models.CharField(max_length=300, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"pinned answer of {self.group}"


class GroupAction(models.Model):
    """What a person did about a group, for its history and for the audit."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    group = models.ForeignKey(QuestionGroup, on_delete=models.CASCADE, related_name="actions")
    at = models.DateTimeField(auto_now_add=True)
    actor = models.CharField(max_length=150)
    action = models.CharField(max_length=200)
    note = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-pk"]

    def __str__(self) -> str:
        return f"{self.group}: {self.action}"
