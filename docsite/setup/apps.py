"""Registers the app."""

from django.apps import AppConfig


class SetupConfig(AppConfig):
    """The wizard for a new project."""

    name = "docsite.setup"
    label = "setup"
    verbose_name = "Set-up of projects"

    def ready(self) -> None:
        """Let `createproject` print the tag."""
        from docsite.core.tenants.management.commands import createproject
        from docsite.setup import printed_tag

        createproject.add_next_step(printed_tag.describe)
