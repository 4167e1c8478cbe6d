"""Registers the app."""

from django.apps import AppConfig

from docsite.core import components


class WebBotAuthConfig(AppConfig):
    """Signed agents."""

    name = "docsite.extras.web_bot_auth"
    label = "web_bot_auth"
    verbose_name = "Signed agents"

    def ready(self) -> None:
        """Check the signatures of views."""
        from analytics.collecting import signatures

        components.register("docsite.extras.web_bot_auth.components")
        signatures.install("docsite.extras.web_bot_auth.verification.verify")
