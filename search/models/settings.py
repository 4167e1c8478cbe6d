"""The settings of a project's search."""

from django.db import models

from docsite.core.tenants.models import Project
from docsite.core.tenants.validators import RETENTION_DAYS


class SearchSettings(models.Model):
    """The owner's settings for the search of a project. Without a row, the defaults apply."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="search_settings")
    search_days = models.PositiveSmallIntegerField(
        "days for searches",
        null=True,
        blank=True,
        validators=RETENTION_DAYS,
        help_text="Searches and clicks are deleted after so many days. Empty: SEARCH_RETENTION_DAYS.",
    )
    synonyms = models.TextField(blank=True, default="", db_default="", help_text="Lines of `search.text.owner_words`.")
    promotions = models.TextField(
        "promoted pages", blank=True, default="", db_default="", help_text="Lines of `search.text.owner_words`."
    )
    folder_groups = models.TextField(
        "protected folders", blank=True, default="", db_default="", help_text="Lines of `search.indexing.page_groups`."
    )

    class Meta:
        verbose_name = verbose_name_plural = "search settings"

    def __str__(self) -> str:
        return f"search of {self.project}"

    @classmethod
    def for_project(cls, project: Project) -> "SearchSettings":
        """The settings of a project; unsaved defaults when it has no row. API calls load them with the project."""
        try:
            settings: SearchSettings = project.search_settings
        except cls.DoesNotExist:
            return cls(project=project)
        return settings
