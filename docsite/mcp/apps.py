"""Registers the app."""

from django.apps import AppConfig

from docsite.core.access import cors

# Headers of MCP that browsers may send to another origin.
REQUEST_HEADERS = ("MCP-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name")


class McpConfig(AppConfig):
    """The MCP server."""

    name = "docsite.mcp"
    label = "mcp"
    verbose_name = "MCP server"
    audited = ("McpSettings",)

    def ready(self) -> None:
        """Let pages on the origins of a project call its server. Load the setting together with the project."""
        from docsite.core.access import authentication

        cors.allow_project_origins_at_root("mcp", *REQUEST_HEADERS)
        authentication.load_with_project("mcp_settings")
