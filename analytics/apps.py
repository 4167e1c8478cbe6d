"""Registers the app."""

from django.apps import AppConfig

from docsite.core.access import cors


class AnalyticsConfig(AppConfig):
    """Page views and reports."""

    name = "analytics"

    def ready(self) -> None:
        """Register what browsers may call, and that a project is read together with its settings."""
        from docsite.core.access import authentication

        cors.allow_project_origins("view", "feedback")
        authentication.load_with_project("analytics_settings")
