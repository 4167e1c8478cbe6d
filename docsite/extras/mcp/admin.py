"""The setting in the admin, and the address of the server on the page of API keys."""

from docsite.core.workspace import extensions
from docsite.extras.mcp.models import McpSettings

extensions.add_settings("Coding agents", McpSettings, "mcp_access")
extensions.add_key_use("mcp/_key_use.html")
