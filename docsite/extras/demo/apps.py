"""The configuration of the app."""

from django.apps import AppConfig


class DemoConfig(AppConfig):
    """The command `demo`."""

    name = "docsite.extras.demo"
    label = "demo"
