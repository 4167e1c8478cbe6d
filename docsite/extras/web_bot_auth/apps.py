"""Registers the app."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.apps import AppConfig

from docsite.core import components

if TYPE_CHECKING:
    from analytics.collecting.signatures import SignedRequest, Signer


class WebBotAuthConfig(AppConfig):
    """Signed agents."""

    name = "docsite.extras.web_bot_auth"
    label = "web_bot_auth"
    verbose_name = "Signed agents"

    def ready(self) -> None:
        """Check the signatures of views."""
        from analytics.collecting import signatures

        components.register("docsite.extras.web_bot_auth.components")
        signatures.install(_verify)


def _verify(request: "SignedRequest", at: datetime, view_id: str) -> "Signer | None":
    from docsite.extras.web_bot_auth import verification  # its library is needed for signed requests only

    return verification.verify(request, at, view_id)
