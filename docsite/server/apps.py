"""The configuration of the app."""

from django.apps import AppConfig


class ServerConfig(AppConfig):
    """The commands that serve, and the checks at start-up."""

    name = "docsite.server"
    label = "server"

    def ready(self) -> None:
        """Register the checks."""
        from docsite.server import checks  # noqa: F401  # registers itself
