"""Send a message, by e-mail or to a webhook: all that goes to owners and invited people goes through here."""

import logging
from datetime import datetime

from django.utils import timezone

from docsite.core import ids
from docsite.core.delivery import mail, webhooks
from docsite.core.delivery.messages import DeliveryError, Email, Message

logger = logging.getLogger(__name__)


def send(message: Message, event: str, delivery_id: str, created_at: datetime) -> str:
    """Send a message. Returns a sentence; raises `DeliveryError`."""
    if isinstance(message, Email):
        return mail.send(message, delivery_id)
    return webhooks.call(message, delivery_id, event, created_at.isoformat(timespec="seconds"))


def try_to_send(message: Message, event: str) -> tuple[bool, str]:
    """Send a message once, now, past the outbox. Returns whether it succeeded, with a sentence.

    For a test, whose result a person waits for, and for a link that is not stored.
    """
    try:
        return True, send(message, event, ids.delivery_id(), timezone.now())
    except DeliveryError as failure:
        logger.warning("A message (%s) could not be sent: %s", event, failure)
        return False, str(failure)
