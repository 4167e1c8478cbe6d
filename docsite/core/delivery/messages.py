"""What is sent: an e-mail, or a call of a webhook."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from docsite.core.delivery.models import Webhook


class DeliveryError(Exception):
    """A message could not be sent. The text is a sentence for the owner, without addresses of readers."""


@dataclass(frozen=True)
class Email:
    """An e-mail in plain text. An answer to it goes to `reply_to`."""

    to: Sequence[str]
    subject: str
    text: str
    reply_to: str = ""


@dataclass(frozen=True)
class WebhookCall:
    """An event for a webhook. `data` is JSON."""

    webhook: Webhook
    data: dict[str, Any]


Message = Email | WebhookCall
