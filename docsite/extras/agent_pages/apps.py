"""Registers the app."""

from django.apps import AppConfig


class AgentPagesConfig(AppConfig):
    """Markdown for agents."""

    name = "docsite.extras.agent_pages"
    label = "agent_pages"
    verbose_name = "Markdown for agents"
    audited = ("AgentPagesSettings",)

    def ready(self) -> None:
        """Add the addresses, and load the setting with the project."""
        from docsite.core.access import authentication
        from docsite.server import api_additions

        authentication.load_with_project("agent_pages_settings")
        api_additions.add_addresses("agents", "docsite.extras.agent_pages.urls")
