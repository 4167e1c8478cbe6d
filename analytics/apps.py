"""Registers the app."""

from django.apps import AppConfig
from django.db.models.signals import post_save

from docsite.core import components
from docsite.core.access import cors_paths


class AnalyticsConfig(AppConfig):
    """Page views and reports."""

    name = "analytics"
    audited = ("AnalyticsSettings",)

    def ready(self) -> None:
        """Register endpoints, ratings, events and receivers; load a project's settings with it."""
        from analytics.feedback import events
        from analytics.feedback.ratings import FeedbackRatings
        from analytics.reports import annotations
        from analytics.reports.digest import count_visitors
        from assistant.conversations import ratings
        from docsite.core.access import authentication
        from docsite.core.notifications import digest
        from search.models import Generation

        components.register("analytics.components")
        cors_paths.allow_project_origins("view", "feedback")
        authentication.load_with_project("analytics_settings")
        ratings.register(FeedbackRatings())
        events.register()
        digest.add_section(count_visitors, position=10)
        post_save.connect(annotations.record_replacement, sender=Generation)
