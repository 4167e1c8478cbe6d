"""What is sent: an e-mail, or a call of a webhook."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from docsite.core.delivery.models import Webhook
from docsite.core.redaction import redact


class DeliveryError(Exception):
    """A message could not be sent. The text is a sentence for the owner, without addresses of readers."""


class DeliveryUnwantedError(DeliveryError):
    """The receiver does not want the message any more. The delivery is deleted, and not tried again."""


@dataclass(frozen=True)
class Email:
    """An e-mail in plain text, and also in HTML if there is some. An answer to it goes to `reply_to`.

    `unsubscribe_url` takes the POST request of RFC 8058, by which a mail program unsubscribes its user.
    """

    to: Sequence[str]
    subject: str
    text: str
    reply_to: str = ""
    html: str = ""
    unsubscribe_url: str = ""


@dataclass(frozen=True)
class WebhookCall:
    """An event for a webhook. `data` is JSON. A chat shows the sentence and a link to `data["url"]` instead."""

    webhook: Webhook
    data: dict[str, Any]
    sentence: str = ""


Message = Email | WebhookCall


def quote_answer(answer: bytes | str) -> str:
    """The text of a server's answer on one line, without addresses and keys."""
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return redact("".join(character if character.isprintable() else " " for character in text))
