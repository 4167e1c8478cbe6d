"""Registers the app."""

from django.apps import AppConfig


class AssistantConfig(AppConfig):
    """Conversations and the widget."""

    name = "assistant"
