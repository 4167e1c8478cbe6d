"""Raw page views, and the pinned rows of an export that is being read page by page."""

from typing import ClassVar

from django.db import models

from docsite.projects.models import ApiKey, Project


class PageView(models.Model):
    """One view of one page. Holds no address, and a user agent only of clients that are not people."""

    class Class(models.TextChoices):
        """What kind of client it was."""

        HUMAN = "human", "Person"
        AI_USER = "ai_user", "AI assistant for a person"
        AI_AGENT = "ai_agent", "AI agent"
        AI_SEARCH = "ai_search", "AI search crawler"
        AI_TRAINING = "ai_training", "AI training crawler"
        SEARCH_CRAWLER = "search_crawler", "Search engine"
        OTHER_BOT = "other_bot", "Other bot"
        HTTP_CLIENT = "http_client", "HTTP client"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="views")
    view_id = models.CharField(max_length=64, help_text="Made by the client: a repeated view counts once.")
    at = models.DateTimeField()
    path = models.CharField(max_length=400)
    client_class = models.CharField("class", max_length=14, choices=Class.choices)
    markdown = models.BooleanField(default=False, help_text="A Markdown fetch by a client that is no known crawler.")
    visitor = models.BigIntegerField(help_text="Keyed hash, 64 bits.")
    agent = models.CharField(max_length=80, blank=True)
    operator = models.CharField(max_length=80, blank=True)
    rule = models.CharField(max_length=80, help_text="What decided the class.")
    rules_version = models.PositiveSmallIntegerField()
    referrer = models.CharField(max_length=200, blank=True, help_text="Origin only.")
    user_agent = models.CharField(max_length=512, blank=True)
    sample = models.BooleanField(default=False, help_text="Made up for the demo.")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "view_id"], name="a_view_counts_once")]
        indexes: ClassVar = [models.Index(fields=["project", "at"])]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.path}"


class Snapshot(models.Model):
    """The rows of an export as they stood when its first page was read, kept for ten minutes."""

    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE)
    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    dates = models.CharField(max_length=200, help_text="Report and dates as the caller gave them.")
    taken_at = models.DateTimeField()
    totals = models.JSONField()
    rows = models.JSONField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["key", "project", "dates"], name="one_snapshot_an_export")
        ]

    def __str__(self) -> str:
        return self.dates
