"""The e-mail with the link of an invitation."""

import logging

from docsite.core import ids
from docsite.core.delivery import mail
from docsite.core.delivery.messages import DeliveryError, Email
from docsite.core.tenants.models import Invitation

logger = logging.getLogger(__name__)


def send_invitation(invitation: Invitation, address: str) -> bool:
    """Send the link now: it is not stored. Returns whether the mail server took it; the owner can copy the link."""
    if not mail.is_configured() or not invitation.email:
        return False
    text = (
        f"You are invited to {invitation.organization} on its documentation service, as {invitation.role}.\n\n"
        f"{address}\n\n"
        f"The link works once, until {invitation.expires_at:%Y-%m-%d %H:%M} UTC.\n"
    )
    try:
        mail.send(Email([invitation.email], f"Invitation to {invitation.organization}", text), ids.delivery_id())
    except DeliveryError as failure:
        logger.warning("An invitation could not be sent: %s", failure)
        return False
    return True
