"""The owner's setting: who may use the MCP server of a project."""

from django.db import models

from docsite.core.tenants.models import Project


class McpSettings(models.Model):
    """The settings of a project's MCP server. Without a row, the defaults apply."""

    class Access(models.TextChoices):
        """Who may call the server."""

        OPEN = "open", "Everyone, within the limits"
        KEY = "key", "Only with an API key"
        OFF = "off", "Nobody"

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="mcp_settings")
    mcp_access = models.CharField(
        "MCP server",
        max_length=4,
        choices=Access.choices,
        default=Access.OPEN,
        db_default=Access.OPEN,
        help_text="Who may let a coding agent search, read and ask this documentation.",
    )

    class Meta:
        verbose_name = verbose_name_plural = "MCP settings"

    def __str__(self) -> str:
        return f"MCP server of {self.project}"


def get_access(project: Project) -> McpSettings.Access:
    """Who may call the server of a project. Requests load the setting with the project."""
    row: McpSettings | None = getattr(project, "mcp_settings", None)
    return McpSettings.Access(row.mcp_access) if row else McpSettings.Access.OPEN
