"""Raw views, the cells that count them, pinned rows of exports, and feedback."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from django.conf import settings
from django.db import models

from assistant.models import Message
from docsite.core import ids
from docsite.core.tenants.models import RETENTION_DAYS, ApiKey, Project

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def new_visitor_secret() -> str:
    """A random hexadecimal key for the visitor hashes of a project. Without the old key, old hashes stay unlinked."""
    return secrets.token_hex(32)


class AnalyticsSettings(models.Model):
    """How a project counts its visitors, and the key of their hashes. Without a row, the defaults apply."""

    class AiScope(models.TextChoices):
        """Which AI-operated clients count as `ai`."""

        ALL = "all", "Assistants, agents, AI search and training crawlers, Markdown fetches"
        READERS = "readers", "Assistants, agents and Markdown fetches only"

    class Rotation(models.TextChoices):
        """How long a visitor is recognized."""

        NEVER = "never", "Never: a visitor counts once over any range"
        QUARTER = "90d", "Every 90 days"
        MONTH = "month", "Every month"
        DAY = "day", "Every day: nobody is followed from one day to the next"

    project = models.OneToOneField(
        Project, on_delete=models.CASCADE, primary_key=True, related_name="analytics_settings"
    )
    ai_scope = models.CharField(max_length=10, choices=AiScope.choices, default=AiScope.ALL)
    secret_rotation = models.CharField(
        "visitor secret changes",
        max_length=5,
        choices=Rotation.choices,
        default=Rotation.NEVER,
        help_text="With each new secret every visitor counts as a new one.",
    )
    first_party_ids = models.BooleanField(
        "first-party visitor ids",
        default=False,
        help_text="Identify a reader by a random id that the view script stores in the browser, instead of by address "
        "and user agent. Storing it may need the reader's consent.",
    )
    feedback_days = models.PositiveSmallIntegerField(
        "days for feedback",
        null=True,
        blank=True,
        validators=RETENTION_DAYS,
        help_text="Feedback is deleted so many days after it was given. Empty: never.",
    )
    view_days = models.PositiveSmallIntegerField(
        "days for single views",
        null=True,
        blank=True,
        validators=RETENTION_DAYS,
        help_text="Single views are deleted, and visit histories shortened, after so many days. The counts stay. "
        "At most RAW_VIEW_DAYS, which also holds if the field is empty.",
    )
    visitor_secret = models.CharField(max_length=64, default=new_visitor_secret, editable=False)

    class Meta:
        verbose_name = verbose_name_plural = "analytics settings"

    def __str__(self) -> str:
        return f"analytics of {self.project}"

    @classmethod
    def find(cls, project: Project) -> "AnalyticsSettings | None":
        """The row of a project. It is read once, and with the project by `docsite.core.access.authentication`."""
        row: AnalyticsSettings | None = getattr(project, "analytics_settings", None)
        return row

    @classmethod
    def for_project(cls, project: Project) -> "AnalyticsSettings":
        """The row of a project, or one with the defaults that is not stored and has no secret."""
        return cls.find(project) or cls(project_id=project.pk, visitor_secret="")

    @classmethod
    def stored_for(cls, project: Project) -> "AnalyticsSettings":
        """The row of a project, created if it is missing: the same for all who ask for it at once."""
        row = cls.find(project)
        if row is None:
            row, _ = cls.objects.get_or_create(project_id=project.pk)
            project.analytics_settings = row
        return row


class Page(models.Model):
    """A page that was viewed, and its number within the project. Page 0, the whole site, has no row."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    number = models.PositiveIntegerField()
    path = models.CharField(max_length=400)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "path"], name="a_page_has_one_number"),
            models.UniqueConstraint(fields=["project", "number"], name="a_number_is_one_page"),
        ]

    def __str__(self) -> str:
        return self.path


class Audience(models.Model):
    """A combination of the values that describe where readers of views came from and what they read with.

    Rows are only added: see `analytics.counting.audiences`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    number = models.PositiveIntegerField(help_text="Within the project, from 1.")
    channel = models.CharField(max_length=8, blank=True)
    source = models.CharField(max_length=80, blank=True, help_text="The host of the referrer.")
    utm_source = models.CharField(max_length=80, blank=True)
    utm_medium = models.CharField(max_length=80, blank=True)
    utm_campaign = models.CharField(max_length=80, blank=True)
    device = models.CharField(max_length=8, blank=True)
    browser = models.CharField(max_length=20, blank=True)
    language = models.CharField(max_length=8, blank=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "number"], name="a_number_is_one_audience")]

    def __str__(self) -> str:
        return f"audience {self.number}"


class PageView(models.Model):
    """One view of one page. Holds no address, and a user agent only of clients that are not people.

    Written by `analytics.collecting.writer` alone. It is kept for `RAW_VIEW_DAYS` after the view and its
    arrival. Until then a second view with its id is ignored.
    """

    class Class(models.TextChoices):
        """The kind of client."""

        HUMAN = "human", "Person"
        AI_USER = "ai_user", "AI assistant for a person"
        AI_AGENT = "ai_agent", "AI agent"
        AI_SEARCH = "ai_search", "AI search crawler"
        AI_TRAINING = "ai_training", "AI training crawler"
        SEARCH_CRAWLER = "search_crawler", "Search engine"
        OTHER_BOT = "other_bot", "Other bot"
        HTTP_CLIENT = "http_client", "HTTP client"

    class Surface(models.TextChoices):
        """The format in which a page was read."""

        HTML = "html", "HTML"
        MARKDOWN = "md", "Markdown"
        LLMS = "llms", "llms.txt"

    class Verified(models.TextChoices):
        """Whether an agent's address is among those that its operator publishes."""

        UNKNOWN = "", "not checked"
        YES = "yes", "verified"
        NO = "no", "claimed only"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="views", db_index=False)
    key = models.BigIntegerField(help_text="Keyed hash of the view's id. A view that is sent again counts once.")
    at = models.BigIntegerField(help_text="Microseconds since 1970, UTC.")
    page = models.PositiveIntegerField(help_text="The page's number.")
    client_class = models.CharField("class", max_length=14, choices=Class.choices)
    surface = models.CharField(max_length=4, choices=Surface.choices, default=Surface.HTML)
    visitor = models.BigIntegerField(help_text="Keyed hash, 64 bits.")
    agent = models.CharField(max_length=80, blank=True)
    operator = models.CharField(max_length=80, blank=True)
    verified = models.CharField(max_length=3, choices=Verified.choices, blank=True)
    rule = models.CharField(max_length=80, help_text="The rule that decided the class.")
    rules_version = models.PositiveSmallIntegerField()
    referrer = models.CharField(max_length=200, blank=True, help_text="Origin only.")
    user_agent = models.CharField(max_length=512, blank=True)
    sample = models.BooleanField(default=False, help_text="Invented for the demo.")
    received = models.PositiveIntegerField(default=0, help_text="Hour of its arrival, since 1970.")
    audience = models.PositiveIntegerField(
        default=0, db_default=0, help_text="The number of its `Audience`; 0 if nothing is known."
    )

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "key"], name="a_view_counts_once")]
        indexes: ClassVar = [models.Index(fields=["project", "at"])]

    def __str__(self) -> str:
        return f"{self.seen_at:%Y-%m-%d %H:%M}"

    @property
    def seen_at(self) -> datetime:
        """When the page was read."""
        return EPOCH + timedelta(microseconds=self.at)


class Seal(models.Model):
    """How far the views of one shard of visitors are counted, and the lease of the process that counts."""

    shard = models.PositiveSmallIntegerField(primary_key=True)
    sealed_to = models.BigIntegerField(default=0, help_text="Views up to this id are counted in the cells.")
    closed = models.BigIntegerField(default=0, help_text="Buckets that end by this hour are merged into longer ones.")
    swept_at = models.DateTimeField(null=True, help_text="When old views were last removed.")
    token = models.BigIntegerField(
        default=0, help_text="Rises with each lease. The holder of an older lease cannot write."
    )
    leased_until = models.FloatField(default=0, help_text="Unix time.")

    def __str__(self) -> str:
        return f"shard {self.shard}"


class Cells(models.Model):
    """The packed cells of one bucket of time. See `analytics.counting.cells`."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    span = models.PositiveSmallIntegerField(help_text="Hours.")
    start = models.PositiveIntegerField(help_text="Hours since 1970, UTC.")
    shard = models.PositiveSmallIntegerField()
    blob = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "span", "start", "shard"], name="one_bucket_of_cells")
        ]

    def __str__(self) -> str:
        return f"{self.span} hours from {EPOCH + timedelta(hours=self.start):%Y-%m-%d %H:%M}"


class AudienceCells(models.Model):
    """The packed cells of one bucket of time whose pages are keys of audiences, not pages."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    span = models.PositiveSmallIntegerField(help_text="Hours.")
    start = models.PositiveIntegerField(help_text="Hours since 1970, UTC.")
    shard = models.PositiveSmallIntegerField()
    blob = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "span", "start", "shard"], name="one_bucket_of_audience_cells")
        ]

    def __str__(self) -> str:
        return f"{self.span} hours from {EPOCH + timedelta(hours=self.start):%Y-%m-%d %H:%M}"


class Trail(models.Model):
    """The visits of one visitor: pages and hours, packed. See `analytics.counting.visit_history`."""

    pk = models.CompositePrimaryKey("project", "visitor")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    visitor = models.BigIntegerField()
    trimmed = models.PositiveIntegerField(help_text="Hour before which only the latest visits are kept.")
    sightings = models.BinaryField()

    def __str__(self) -> str:
        return f"{len(self.sightings) // 8} sightings"


class AgentViews(models.Model):
    """The views of one client that is not a person, in an hour or a day. The sealer sums them up."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    span = models.PositiveSmallIntegerField(help_text="Hours: 1 or 24.")
    start = models.PositiveIntegerField(help_text="Hours since 1970, UTC.")
    client_class = models.CharField(max_length=14, choices=PageView.Class.choices)
    agent = models.CharField(max_length=80, blank=True)
    rule = models.CharField(max_length=80)
    surface = models.CharField(max_length=4, choices=PageView.Surface.choices)
    verified = models.CharField(max_length=3, choices=PageView.Verified.choices, blank=True)
    operator = models.CharField(max_length=80, blank=True)
    views = models.BigIntegerField()
    last_at = models.BigIntegerField(help_text="Microseconds since 1970, UTC.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "span", "start", "client_class", "agent", "rule", "surface", "verified"],
                name="one_row_an_agent_and_bucket",
            )
        ]

    def __str__(self) -> str:
        return f"{self.agent or self.client_class}: {self.views}"


class AgentAddresses(models.Model):
    """The addresses of an agent, as its operator publishes them."""

    agent = models.CharField(max_length=80, unique=True, help_text="The agent's name, as the rules spell it.")
    networks = models.JSONField(help_text="CIDR ranges.")
    source = models.CharField(max_length=400, help_text="File or address from which they were read.")
    read_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "agent addresses"
        ordering: ClassVar = ["agent"]

    def __str__(self) -> str:
        return self.agent


class VisitorSecret(models.Model):
    """The key of a project's visitor hashes for one period. Without it, nobody can compute these hashes again."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    period = models.CharField(max_length=12)
    secret = models.CharField(max_length=64)
    expires_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "period"], name="one_visitor_secret_a_period")
        ]

    def __str__(self) -> str:
        return self.period


class LogImport(models.Model):
    """How far a log was imported. The next import resumes there, so it repeats no views, even deleted ones."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    first_line = models.CharField(
        max_length=64, help_text="Keyed hash of time, path and status of its first line. It identifies the log."
    )
    offset = models.BigIntegerField(default=0, help_text="Bytes of the unpacked log that are imported.")
    last_line = models.CharField(
        max_length=64, blank=True, help_text="The same hash of the line that ends at the offset."
    )
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "first_line"], name="one_import_a_log")]

    def __str__(self) -> str:
        return f"{self.offset:,} bytes"


class Snapshot(models.Model):
    """The rows of an export when its first page was read. Stored for ten minutes, for the other pages."""

    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE)
    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    dates = models.CharField(max_length=200, help_text="Report and dates of the request.")
    taken_at = models.DateTimeField()
    counts = models.BinaryField(help_text="Packed: see `analytics.reports.visitor_counts.Counts`.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["key", "project", "dates"], name="one_snapshot_an_export")
        ]

    def __str__(self) -> str:
        return self.dates


class Annotation(models.Model):
    """Something that happened and may explain a change of the numbers: a note, or a replaced index."""

    class Kind(models.TextChoices):
        """Who recorded it."""

        NOTE = "note", "Note"
        INDEX = "index", "Index replaced"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    kind = models.CharField(max_length=5, choices=Kind.choices, default=Kind.NOTE)
    at = models.DateTimeField()
    text = models.CharField(max_length=200, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["project", "at"], name="annotations_by_time")]

    def __str__(self) -> str:
        return self.text or self.get_kind_display()


class ShareLink(models.Model):
    """A link to the visitors report of a project that works without a log-in. Only its SHA-256 digest is stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    name = models.CharField(max_length=100, blank=True)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, editable=False, help_text="Exact to about ten minutes.")
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering: ClassVar = ["-created_at"]

    def __str__(self) -> str:
        return self.name or f"link {self.pk}"


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
