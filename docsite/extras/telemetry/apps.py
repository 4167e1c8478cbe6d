"""The configuration of the app."""

from django.apps import AppConfig

from docsite.core import components


class TelemetryConfig(AppConfig):
    """Traces and errors for other services. It comes first, so that it sends what the end of the others logs."""

    name = "docsite.extras.telemetry"
    label = "telemetry"

    def ready(self) -> None:
        """Register the components."""
        components.register("docsite.extras.telemetry.components")
