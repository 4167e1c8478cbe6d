"""Registers the app."""

from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    """Organizations, projects, keys."""

    name = "docsite.projects"
    label = "projects"
    verbose_name = "Documentation projects"

    def ready(self) -> None:
        """Register the checks an operator sees at start-up."""
        from docsite import checks  # noqa: F401  # registers itself
