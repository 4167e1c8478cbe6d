"""Conversations: threads and their messages, and the chat ids of clients."""

from typing import ClassVar

from django.db import models

from docsite.core import ids
from docsite.core.tenants.models import Project


class Thread(models.Model):
    """A conversation of one reader, identified by a fingerprint (`fp`), with the assistant of one project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="threads")
    thread_id = models.CharField(max_length=40, unique=True, default=ids.thread_id, editable=False)
    fp = models.CharField(max_length=256)
    title = models.CharField(max_length=100, blank=True, help_text="The beginning of the first question.")
    sample = models.BooleanField(
        default=False, db_default=False, help_text="The demo invented it. Its answers are as the service gives them."
    )
    groups = models.TextField(
        default="",
        db_default="",
        blank=True,
        help_text="The groups for whose readers it was answered. Only readers of all of them go on with it.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "conversation"
        ordering: ClassVar = ["-created_at"]
        indexes: ClassVar = [
            models.Index(fields=["project", "fp"]),
            models.Index(fields=["project"], name="sample_threads", condition=models.Q(sample=True)),
        ]

    def __str__(self) -> str:
        return self.thread_id  # not its title: the admin's history keeps this text when the conversation is deleted


class Message(models.Model):
    """One turn of a conversation. An answer is saved when it begins, while it streams, and when it ends."""

    class Role(models.TextChoices):
        """Who wrote the message."""

        USER = "user"
        ASSISTANT = "assistant"

    class State(models.TextChoices):
        """The state of an answer. At start-up, `running` answers of a crashed process become `interrupted`."""

        RUNNING = "running"
        DONE = "done"
        ABORTED = "aborted"
        ERROR = "error"
        INTERRUPTED = "interrupted"

    class Caller(models.TextChoices):
        """Where the question came from."""

        WEB = "web"
        API = "api"
        MCP = "mcp", "MCP"
        OTHER = "other"

    class Outcome(models.TextChoices):
        """What became of an answer, as `assistant.answering.record.Outcome.kind` decides."""

        RUNNING = "running"
        ANSWERED = "answered"
        CLOSEST_PASSAGES = "closest_passages", "Closest passages"
        UNSUPPORTED = "unsupported", "Without a source"
        REFUSED = "refused"
        GREETING = "greeting"
        CUT = "cut", "Cut off"
        FAILED = "failed"

    class CutBy(models.TextChoices):
        """Who cut off an answer, or why it failed after its first words."""

        READER = "reader", "Reader pressed stop"
        CONNECTION = "connection", "Connection lost"
        SERVICE = "service", "Service stopped"
        TIME_LIMIT = "time_limit", "Time limit"
        MODEL_SERVER = "model_server", "Model server failed"
        LENGTH_LIMIT = "length_limit", "Length limit"
        FILTER = "filter", "Content filter"
        REPETITION = "repetition", "Repeated itself"

    # Reports read answers by project and time. The columns from here to `total_ms` are null in rows of earlier
    # releases, where their value is not known.
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", null=True, db_index=False)
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="messages")
    message_id = models.CharField(max_length=40, unique=True, default=ids.message_id, editable=False)
    role = models.CharField(max_length=10, choices=Role.choices)
    content = models.TextField(blank=True)
    state = models.CharField(max_length=12, choices=State.choices, default=State.DONE)
    caller = models.CharField(max_length=5, choices=Caller.choices, default=Caller.OTHER)
    agent = models.CharField(max_length=80, blank=True, null=True, help_text="The agent that asked.")  # noqa: DJ001
    page_path = models.CharField(max_length=400, blank=True, help_text="The page the reader was on.")
    rung = models.CharField(
        max_length=20,
        blank=True,
        help_text="How the answer was made: model, second_model, extractive, closest_passages, nearest_pages.",
    )
    steps = models.JSONField(
        default=list, help_text="Each rung that was tried, in order, with the reason why the one before was left."
    )
    reason = models.CharField(
        max_length=200, blank=True, help_text="Why the model did not answer, or how the answer failed."
    )
    sources = models.JSONField(default=list, help_text="Cited pages: title and url.")
    hits = models.JSONField(
        default=list,
        help_text="Retrieved passages: path, anchor, score, and the digest of the section. Early rows have no digest.",
    )
    checks = models.JSONField(
        default=list, help_text="Citations of the model, with the sentence that supports each, or why it was dropped."
    )
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    language = models.CharField(  # noqa: DJ001  # null is not known
        max_length=2, null=True, help_text="Of the question. Empty: its words do not tell it."
    )
    filter_version = models.CharField(max_length=100, null=True, help_text="Only pages of this version were searched.")  # noqa: DJ001
    filter_language = models.CharField(max_length=35, null=True, help_text="Only pages in this language were searched.")  # noqa: DJ001
    context = models.JSONField(
        null=True, help_text="Selected texts and code that came with the question: type, path and number of characters."
    )
    outcome = models.CharField(max_length=16, choices=Outcome.choices, null=True)  # noqa: DJ001
    cut_by = models.CharField(max_length=12, choices=CutBy.choices, null=True)  # noqa: DJ001
    model = models.CharField(  # noqa: DJ001
        max_length=200, null=True, help_text="The model that answered, as it is configured. Empty: none did."
    )
    chance = models.FloatField(null=True, help_text="That the passages answer the question, 0 to 1.")
    cost = models.PositiveBigIntegerField(
        null=True, help_text="In millionths of the currency of the prices. Empty: a model had no price."
    )
    first_token_ms = models.PositiveIntegerField(null=True, help_text="From the question to the first text.")
    total_ms = models.PositiveIntegerField(null=True, help_text="From the question to the end of the answer.")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["pk"]
        indexes: ClassVar = [
            models.Index(fields=["role", "created_at", "thread", "caller"], name="turns_by_time"),
            # It holds all columns that reports count. A row has kilobytes of text, so reading rows would take seconds.
            models.Index(
                fields=[
                    *("project", "created_at", "outcome", "caller", "rung", "model", "language", "page_path", "cut_by"),
                    *("filter_version", "filter_language", "prompt_tokens", "completion_tokens", "cost"),
                    *("first_token_ms", "total_ms"),
                ],
                condition=models.Q(outcome__isnull=False),
                name="answer_facts",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role}: {self.content[:60]}"


class ChatId(models.Model):
    """A chat id that a client chose, and whether readers with different fingerprints use it.

    When the thread of the reader who used the id first is deleted, the row stays until the id was not used for
    two days: the reader's browser still knows the id, and must not resume the answers of another reader with it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the id.")
    fp_digest = models.CharField(max_length=64, help_text="SHA-256 of id and fp.")
    is_shared = models.BooleanField(default=False)
    thread = models.ForeignKey(Thread, on_delete=models.SET_NULL, related_name="+", null=True)
    used_on = models.DateField(null=True, help_text="The day (UTC) of its latest use.")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "digest"], name="one_chat_id_a_project")]

    def __str__(self) -> str:
        return self.digest[:8]
