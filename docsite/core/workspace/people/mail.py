"""Sends the link of an invitation by e-mail, where a mail server is configured."""

import logging

from django.conf import settings
from django.core.mail import send_mail

from docsite.core.tenants.models import Invitation

logger = logging.getLogger(__name__)


def is_configured() -> bool:
    """Whether this service can send e-mail: it has the address of a mail server (`EMAIL_URL`)."""
    return bool(getattr(settings.ENV, "email_url", ""))


def send_invitation(invitation: Invitation, address: str) -> bool:
    """Send the link. Returns whether the mail server took it; the owner can copy the link in any case."""
    if not is_configured() or not invitation.email:
        return False
    text = (
        f"You are invited to {invitation.organization} on its documentation service, as {invitation.role}.\n\n"
        f"{address}\n\n"
        f"The link works once, until {invitation.expires_at:%Y-%m-%d %H:%M} UTC.\n"
    )
    try:
        return bool(send_mail(f"Invitation to {invitation.organization}", text, None, [invitation.email]))
    except OSError as failure:  # SMTPException, too
        logger.warning("An invitation could not be sent: %s", type(failure).__name__)
        return False
