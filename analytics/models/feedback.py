"""Feedback of readers about pages and answers, and notes of the team about it."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from assistant.models import Message
from docsite.core import ids
from docsite.core.tenants.models import Project


class Feedback(models.Model):
    """A reader's feedback on a page, on code of the page, or on an answer. It is deleted with the answer."""

    class Source(models.TextChoices):
        """The form in which the reader gave it."""

        CONTEXTUAL = "contextual", "Contextual"
        CODE_SNIPPET = "code_snippet", "Code"
        THUMBS_ONLY = "thumbs_only", "Thumbs"
        AGENT = "agent", "Agent"

    class Status(models.TextChoices):
        """Its state of work, which the owner sets."""

        PENDING = "pending", "Pending"
        IN_PROGRESS = "in_progress", "In progress"
        RESOLVED = "resolved", "Resolved"
        DISMISSED = "dismissed", "Dismissed"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="feedback", db_index=False)
    feedback_id = models.CharField(max_length=40, unique=True, default=ids.feedback_id, editable=False)
    message = models.OneToOneField(
        Message,
        on_delete=models.CASCADE,
        related_name="feedback",
        null=True,
        blank=True,
        verbose_name="answer",
        help_text="The answer that it is about, if any.",
    )
    client_id = models.CharField(  # noqa: DJ001  # null, since many have none and the others are unique
        "id of the client",
        max_length=64,
        null=True,
        blank=True,
        editable=False,
        help_text="Feedback with the same id replaces this.",
    )
    source = models.CharField(max_length=12, choices=Source.choices)
    status = models.CharField(max_length=11, choices=Status.choices, default=Status.PENDING)
    path = models.CharField(max_length=400, help_text="The page that the reader was on.")
    helpful = models.BooleanField(null=True, blank=True)
    reason = models.CharField(max_length=200, blank=True)
    comment = models.TextField(blank=True)
    contact = models.CharField(max_length=300, blank=True)
    code = models.TextField(blank=True)
    filename = models.CharField(max_length=300, blank=True)
    lang = models.CharField("language", max_length=50, blank=True)
    created_at = models.DateTimeField(help_text="When the reader gave it, or changed it last.")
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    sample = models.BooleanField(default=False, db_default=False, help_text="The demo invented it.")

    class Meta:
        verbose_name_plural = "feedback"
        ordering: ClassVar = ["-created_at", "-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "client_id"], name="one_feedback_a_client_id")
        ]
        indexes: ClassVar = [
            models.Index(fields=["project", "created_at"], name="feedback_by_time"),
            models.Index(fields=["project"], name="sample_feedback", condition=models.Q(sample=True)),
            models.Index(fields=["project", "path", "created_at", "helpful", "source"], name="feedback_by_page"),
        ]

    def __str__(self) -> str:
        return f"{self.get_source_display()} on {self.path}"


class FeedbackNote(models.Model):
    """What a staff user wrote about a piece of feedback. Readers never see it."""

    feedback = models.ForeignKey(Feedback, on_delete=models.CASCADE, related_name="notes")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    text = models.TextField(max_length=4000)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["pk"]

    def __str__(self) -> str:
        return self.text[:60]
