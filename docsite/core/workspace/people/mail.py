"""The e-mail with the link of an invitation."""

from docsite.core.delivery import mail, sending
from docsite.core.delivery.messages import Email
from docsite.core.tenants.models import Invitation


def send_invitation(invitation: Invitation, address: str) -> bool:
    """Send the link now: it is not stored. Returns whether the mail server took it; the owner can copy the link."""
    if not mail.is_configured() or not invitation.email:
        return False
    text = (
        f"You are invited to {invitation.organization} on its documentation service, as {invitation.role}.\n\n"
        f"{address}\n\n"
        f"The link works once, until {invitation.expires_at:%Y-%m-%d %H:%M} UTC.\n"
    )
    email = Email([invitation.email], f"Invitation to {invitation.organization}", text)
    return sending.try_to_send(email, "invitation")[0]
