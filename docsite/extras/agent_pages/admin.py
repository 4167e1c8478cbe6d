"""The setting in the admin, and the files for the site on the page of API keys."""

from docsite.core.workspace import extensions
from docsite.extras.agent_pages.models import AgentPagesSettings

extensions.add_settings("Coding agents", AgentPagesSettings, "agent_pages")
extensions.add_key_use("agent_pages/_key_use.html")
