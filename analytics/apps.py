"""Registers the app."""

from django.apps import AppConfig

from docsite.core.access import cors


class AnalyticsConfig(AppConfig):
    """Page views and reports."""

    name = "analytics"

    def ready(self) -> None:
        """Register the endpoints for browsers and the thumbs, and load the settings of a project together with it."""
        from analytics.feedback import store
        from assistant.question_groups import thumbs
        from docsite.core.access import authentication

        cors.allow_project_origins("view", "feedback")
        authentication.load_with_project("analytics_settings")
        thumbs.add_lookup(store.find_thumbs)
