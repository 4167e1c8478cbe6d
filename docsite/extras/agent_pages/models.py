"""The owner's setting: whether the pages of a project are served as Markdown."""

from django.db import models

from docsite.core.tenants.models import Project


class AgentPagesSettings(models.Model):
    """Whether agents read the pages of a project here. Without a row, they do."""

    project = models.OneToOneField(
        Project, on_delete=models.CASCADE, primary_key=True, related_name="agent_pages_settings"
    )
    agent_pages = models.BooleanField(
        "Markdown for agents",
        default=True,
        db_default=True,
        help_text="Serve the public pages as Markdown, without a key, and as llms.txt, for agents and for your site.",
    )

    class Meta:
        verbose_name = verbose_name_plural = "settings of Markdown for agents"

    def __str__(self) -> str:
        return f"Markdown of {self.project}"


def is_served(project: Project) -> bool:
    """Whether agents read the pages of a project here. Requests load the setting with the project."""
    row: AgentPagesSettings | None = getattr(project, "agent_pages_settings", None)
    return row is None or row.agent_pages
