"""Registers the app."""

from django.apps import AppConfig

from docsite.core.access import cors


class AnalyticsConfig(AppConfig):
    """Page views and reports."""

    name = "analytics"

    def ready(self) -> None:
        """Register what browsers may call."""
        cors.allow_project_origins("view", "feedback")
