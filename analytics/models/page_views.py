"""Views of pages as they were collected, and how far server logs were imported."""

from datetime import datetime, timedelta
from typing import ClassVar

from django.db import models

from analytics.models.counts import EPOCH
from docsite.core.tenants.models import Project


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
    arrival. Until then a second view with its id is ignored: see `ViewKeys`.
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
        """What proves the name of an agent: its signature, or an address that its operator publishes."""

        UNKNOWN = "", "not checked"
        YES = "yes", "verified"
        NO = "no", "claimed only"
        SIGNED = "sig", "signed"

    # PostgreSQL need not check each row: who stores new views also stores their `ViewKeys`, whose key is checked.
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="views", db_index=False, db_constraint=False
    )
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
        indexes: ClassVar = [
            models.Index(fields=["project", "at"]),
            models.Index(fields=["project", "id"], name="views_in_order"),  # of a project, for the sealer
        ]

    def __str__(self) -> str:
        return f"{self.seen_at:%Y-%m-%d %H:%M}"

    @property
    def seen_at(self) -> datetime:
        """When the page was read."""
        return EPOCH + timedelta(microseconds=self.at)


class ViewKeys(models.Model):
    """The keys of views that one commit stored, or of several commits merged: sorted little-endian 64-bit numbers.

    See `analytics.collecting.view_keys`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="+")
    day = models.PositiveIntegerField(help_text="Day on which the views arrived, in days since 1970.")
    keys = models.BinaryField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["project", "id"], name="runs_in_order")]

    def __str__(self) -> str:
        return f"{len(self.keys) // 8} keys"


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
