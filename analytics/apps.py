"""Registers the app."""

from django.apps import AppConfig


class AnalyticsConfig(AppConfig):
    """Page views and reports."""

    name = "analytics"
