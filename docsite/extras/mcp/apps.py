"""Registers the app."""

from django.apps import AppConfig

from docsite.core.access import cors_paths

# Headers of MCP that browsers may send to another origin.
REQUEST_HEADERS = ("MCP-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name")


class McpConfig(AppConfig):
    """The MCP server."""

    name = "docsite.extras.mcp"
    label = "mcp"
    verbose_name = "MCP server"
    audited = ("McpSettings",)

    def ready(self) -> None:
        """Add the addresses, let pages on a project's origins call its server, load the setting with the project."""
        from docsite.core.access import authentication
        from docsite.server import api_additions
        from docsite.site import additions

        cors_paths.allow_project_origins_at_root("mcp", *REQUEST_HEADERS)
        authentication.load_with_project("mcp_settings")
        api_additions.add_addresses("mcp", "docsite.extras.mcp.urls")
        additions.register("docsite.extras.mcp.site_addition")
