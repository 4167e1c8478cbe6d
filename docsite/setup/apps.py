"""Registers the app."""

from django.apps import AppConfig


class SetupConfig(AppConfig):
    """The wizard for a new project."""

    name = "docsite.setup"
    label = "setup"
    verbose_name = "Set-up of projects"
