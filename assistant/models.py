"""Conversations, threads and their messages; what a site's owner told the assistant; and the widget."""

import re
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, MaxValueValidator, MinValueValidator, validate_email
from django.db import models

from assistant.appearance import validate_accent, validate_font, validate_labels, validate_logo
from assistant.question import Voice
from docsite.core import ids
from docsite.core.tenants.models import Project, origin_of


class Thread(models.Model):
    """A conversation of one reader (fp) with one project's assistant."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="threads")
    thread_id = models.CharField(max_length=40, unique=True, default=ids.thread_id, editable=False)
    fp = models.CharField(max_length=256)
    title = models.CharField(max_length=100, blank=True, help_text="How it began.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "conversation"
        ordering: ClassVar = ["-created_at"]
        indexes: ClassVar = [models.Index(fields=["project", "fp"])]

    def __str__(self) -> str:
        return self.title or self.thread_id


class Message(models.Model):
    """One turn. An answer is stored when it begins, again while it streams, and when it ends."""

    class Role(models.TextChoices):
        """Who speaks."""

        USER = "user"
        ASSISTANT = "assistant"

    class State(models.TextChoices):
        """How far an answer got. `running` after a crash reads as interrupted."""

        RUNNING = "running"
        DONE = "done"
        ABORTED = "aborted"
        ERROR = "error"
        INTERRUPTED = "interrupted"

    class Caller(models.TextChoices):
        """Where the question came from."""

        WEB = "web"
        API = "api"
        OTHER = "other"

    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="messages")
    message_id = models.CharField(max_length=40, unique=True, default=ids.message_id, editable=False)
    role = models.CharField(max_length=10, choices=Role.choices)
    content = models.TextField(blank=True)
    state = models.CharField(max_length=12, choices=State.choices, default=State.DONE)
    caller = models.CharField(max_length=5, choices=Caller.choices, default=Caller.OTHER)
    page_path = models.CharField(max_length=400, blank=True, help_text="The page the reader was on.")
    rung = models.CharField(
        max_length=20, blank=True, help_text="What made the answer: model, second_model, extractive, nearest_pages."
    )
    steps = models.JSONField(default=list, help_text="Every rung that was tried, in order, with the reason for it.")
    reason = models.CharField(max_length=200, blank=True, help_text="Why it was not the model, or how it failed.")
    sources = models.JSONField(default=list, help_text="Cited pages: title and url.")
    hits = models.JSONField(default=list, help_text="Retrieved passages: path, anchor and score.")
    checks = models.JSONField(
        default=list, help_text="Citations of the model, with the sentence that supports each, or why it was dropped."
    )
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["pk"]
        indexes: ClassVar = [models.Index(fields=["role", "created_at", "thread", "caller"], name="turns_by_time")]

    def __str__(self) -> str:
        return f"{self.role}: {self.content[:60]}"


class TokenUse(models.Model):
    """Tokens of model servers that a project used on a day (UTC)."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="token_uses")
    day = models.DateField()
    tokens = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "day"], name="one_token_use_a_day")]

    def __str__(self) -> str:
        return f"{self.day}: {self.tokens}"


class ChatId(models.Model):
    """A chat id that a client chose, and whether readers of more than one fp did. Kept when their threads are not."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the id.")
    fp_digest = models.CharField(max_length=64, help_text="SHA-256 of id and fp.")
    is_shared = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "digest"], name="one_chat_id_a_project")]

    def __str__(self) -> str:
        return self.digest[:8]


MOST_STARTERS = 3


def validate_starters(questions: Any) -> None:
    """Refuse anything but a few short questions."""
    if not isinstance(questions, list) or not all(isinstance(one, str) and one.strip() for one in questions):
        raise ValidationError("Must be a list of questions.")
    if len(questions) > MOST_STARTERS or any(len(one) > 120 for one in questions):
        raise ValidationError(f"At most {MOST_STARTERS} questions of 120 characters each.")


def validate_paths(paths: Any) -> None:
    """Refuse anything but a list of pages."""
    if not isinstance(paths, list) or not all(isinstance(one, str) and one.startswith("/") for one in paths):
        raise ValidationError("Must be a list of page paths, each with a leading slash.")


def validate_support_url(text: str) -> None:
    """Refuse anything but a web address, a mailto link or a mail address, since it becomes a link in an answer."""
    try:
        if text.startswith("mailto:") or "://" not in text:
            validate_email(text.removeprefix("mailto:").partition("?")[0])
        else:
            origin_of(text)
    except (ValueError, ValidationError):
        raise ValidationError(
            "Write a link that begins with https://, http:// or mailto:, or an e-mail address."
        ) from None
    if re.search(r"[\s\x00-\x1f\x7f()<>\[\]\"\\`]", text):  # would end the link
        raise ValidationError("Must hold no spaces, quotes or brackets; in an address write %20, %28 and so on.")


class AssistantSettings(models.Model):
    """What a site's owner told its assistant. A project without a row has the defaults."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="assistant_settings")
    instructions = models.TextField(
        blank=True,
        validators=[MaxLengthValidator(4000)],
        help_text="Added to what every model is told: tone, names of products, what to say no to.",
    )
    starter_questions = models.JSONField(
        default=list, blank=True, validators=[validate_starters], help_text="Shown in an empty conversation."
    )
    deflection = models.TextField(
        blank=True,
        validators=[MaxLengthValidator(500)],
        help_text="Said when the documentation has no answer, above the nearest pages. Markdown is allowed, links "
        "included.",
    )
    support_url = models.CharField(
        max_length=300,
        blank=True,
        validators=[validate_support_url],
        help_text="Link or mail address offered when the documentation has no answer.",
    )
    model = models.CharField(
        max_length=200, blank=True, help_text="Name of another model of the same server. Empty: as configured."
    )
    temperature = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0.0), MaxValueValidator(2.0)],
        help_text="0 to 2. Empty: as the model server has it.",
    )
    threshold = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0.0), MaxValueValidator(1.0)],
        help_text="0 to 1. Below this chance that the pages answer, the assistant says that they do not. "
        "Empty: as calibrated.",
    )

    class Meta:
        verbose_name = verbose_name_plural = "assistant settings"

    def __str__(self) -> str:
        return f"assistant of {self.project}"

    @classmethod
    def of(cls, project: Project) -> "AssistantSettings":
        """Those of a project, stored or not."""
        told = cls.objects.filter(project=project).first() or cls()
        told.project = project  # so that nobody reads it again
        return told

    def voice(self) -> Voice:
        """What an answer needs to know of it."""
        return Voice(self.instructions.strip(), self.deflection.strip(), self.support_url, self.threshold)


class GoldenQuestion(models.Model):
    """A question and the pages its answer must cite, all of them; without pages it must be refused."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="golden_questions")
    text = models.CharField("question", max_length=500)
    paths = models.JSONField("pages", default=list, blank=True, validators=[validate_paths])
    passed = models.BooleanField(null=True, editable=False)
    changed = models.BooleanField(default=False, editable=False, help_text="Whether the last run went otherwise.")
    passed_before = models.BooleanField(default=False, editable=False, help_text="In any run before the last one.")
    cited = models.JSONField(default=list, editable=False)
    ran_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering: ClassVar = ["pk"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "text"], name="golden_question_once")]

    def __str__(self) -> str:
        return self.text


class WidgetSettings(models.Model):
    """How a project's widget looks and speaks. What is empty is as the widget has it, or as its page says."""

    class Variant(models.TextChoices):
        """What the launcher opens."""

        WIDGET = "widget", "Widget: a small window above the launcher"
        PANEL = "panel", "Panel: the whole height, at the side of the page"
        MODAL = "modal", "Modal: a dialog in the middle, over the page"

    class Theme(models.TextChoices):
        """Light or dark."""

        SYSTEM = "system", "As the page, else as the reader's system"
        LIGHT = "light", "Light"
        DARK = "dark", "Dark"

    class Side(models.TextChoices):
        """Where the launcher stands, across."""

        START = "start", "Start: where lines begin"
        END = "end", "End: where lines end"
        LEFT = "left", "Left"
        RIGHT = "right", "Right"

    class Align(models.TextChoices):
        """Where the launcher stands, upright."""

        BOTTOM = "bottom", "Bottom"
        TOP = "top", "Top"

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="widget_settings")
    enabled = models.BooleanField(default=True)
    variant = models.CharField(max_length=10, choices=Variant.choices, blank=True)
    theme = models.CharField(max_length=10, choices=Theme.choices, blank=True)
    accent = models.CharField(max_length=60, blank=True, validators=[validate_accent])
    radius = models.PositiveSmallIntegerField(null=True, blank=True, validators=[MaxValueValidator(32)])
    font = models.CharField(max_length=200, blank=True, validators=[validate_font])
    side = models.CharField(max_length=10, choices=Side.choices, blank=True)
    align = models.CharField(max_length=10, choices=Align.choices, blank=True)
    logo = models.CharField(max_length=500, blank=True, validators=[validate_logo])
    z_index = models.PositiveIntegerField("z-index", null=True, blank=True, validators=[MaxValueValidator(2**31 - 1)])
    labels = models.JSONField(default=dict, blank=True, validators=[validate_labels])

    class Meta:
        verbose_name = verbose_name_plural = "widget settings"

    def __str__(self) -> str:
        return f"widget of {self.project}"

    @classmethod
    def of(cls, project: Project) -> "WidgetSettings":
        """Those of a project, stored or not."""
        told = cls.objects.filter(project=project).first() or cls()
        told.project = project
        return told

    def appearance(self) -> dict[str, str | int]:
        """What is set, by the widget's names for it."""
        told = {
            "variant": self.variant,
            "theme": self.theme,
            "accent": self.accent,
            "radius": self.radius,
            "font": self.font,
            "side": self.side,
            "align": self.align,
            "logo": self.logo,
            "zIndex": self.z_index,
        }
        return {name: value for name, value in told.items() if value not in ("", None)}


VERSION_LENGTH = 12


class WidgetFile(models.Model):
    """A file of a build of the widget that some page may have pinned. Never deleted: see `assistant.widget.files`."""

    version = models.CharField(max_length=VERSION_LENGTH, help_text="The beginning of its SHA-256.")
    name = models.CharField(max_length=20)
    content = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["version", "name"], name="one_file_a_version")]

    def __str__(self) -> str:
        return f"{self.version}/{self.name}"
