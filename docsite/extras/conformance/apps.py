"""The configuration of the app."""

from django.apps import AppConfig


class ConformanceConfig(AppConfig):
    """Checks of a running service, by the command `conform`."""

    name = "docsite.extras.conformance"
    label = "conformance"
