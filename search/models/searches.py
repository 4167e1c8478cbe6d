"""Recorded searches."""

from typing import ClassVar

from django.db import models

from docsite.core.tenants.models import Project


class SearchQuery(models.Model):
    """One search of a reader, with the result that was opened. The caller is stored for about an hour only."""

    class CallerKind(models.TextChoices):
        """Where the search came from, as `assistant.models.Message.Caller` has it."""

        WEB = "web"
        API = "api", "API"
        MCP = "mcp", "MCP"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="searches")
    at = models.DateTimeField(help_text="When the text was searched for. While the reader types, the last time.")
    text = models.CharField(max_length=400)
    folded = models.CharField(
        max_length=400, editable=False, help_text="The text without case, by which searches are grouped."
    )
    result_count = models.PositiveSmallIntegerField(
        "results", null=True, help_text="Empty: only the click was recorded."
    )
    first_score = models.FloatField("score of the first result", null=True, help_text="0 to 1.")
    filter_version = models.CharField(max_length=100, null=True, help_text="Only pages of this version were searched.")  # noqa: DJ001
    filter_language = models.CharField(max_length=35, null=True, help_text="Only pages in this language were searched.")  # noqa: DJ001
    caller_kind = models.CharField(max_length=3, choices=CallerKind.choices, null=True)  # noqa: DJ001
    clicked_path = models.CharField(max_length=400, blank=True)
    position = models.PositiveSmallIntegerField(
        null=True, help_text="Position of the clicked result. The first one is 1."
    )
    clicked_at = models.DateTimeField(null=True)
    caller = models.BigIntegerField(
        null=True, editable=False, help_text="Keyed hash, 64 bits. Erased after about an hour."
    )
    sample = models.BooleanField(default=False, db_default=False, help_text="The demo invented it.")

    class Meta:
        verbose_name = "search"
        verbose_name_plural = "searches"
        ordering: ClassVar = ["-at", "-pk"]
        indexes: ClassVar = [
            # Reports read only these two indexes, not the rows.
            models.Index(fields=["project", "at", "result_count", "position"], name="searches_by_time"),
            models.Index(fields=["project", "folded", "at", "result_count", "position"], name="searches_by_query"),
            models.Index(fields=["at"]),
            models.Index(fields=["caller", "at"], name="known_callers", condition=models.Q(caller__isnull=False)),
            models.Index(fields=["project"], name="sample_searches", condition=models.Q(sample=True)),
        ]

    def __str__(self) -> str:
        return self.text
