"""E-mail through the operator's mail server (`EMAIL_URL`)."""

import smtplib
import ssl
from email.utils import parseaddr

from django.conf import settings
from django.core.mail import EmailMultiAlternatives  # noqa: TID251  # the place

from docsite.core.delivery.messages import DeliveryError, Email, quote_answer


def is_configured() -> bool:
    """Whether the operator has named a mail server."""
    return bool(settings.ENV.email_url)


def send(email: Email, message_id: str) -> str:
    """Send an e-mail. Its Message-ID is the same in each attempt. Returns a sentence; raises `DeliveryError`."""
    host = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2]
    headers = {"Message-ID": f"<{message_id}@{host}>", "Auto-Submitted": "auto-generated"}
    if email.unsubscribe_url:
        headers |= {
            "List-Unsubscribe": f"<{email.unsubscribe_url}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        }
    message = EmailMultiAlternatives(
        " ".join(email.subject.split()),  # a header has no line breaks
        email.text,
        to=list(email.to),
        reply_to=[email.reply_to] if email.reply_to else None,
        headers=headers,
    )
    if email.html:
        message.attach_alternative(email.html, "text/html")
    try:
        message.send()
    except smtplib.SMTPResponseException as refusal:
        raise DeliveryError(
            f"The mail server answered {refusal.smtp_code}: {quote_answer(refusal.smtp_error)}"
        ) from None
    except smtplib.SMTPRecipientsRefused as refusal:
        code, text = next(iter(refusal.recipients.values()))
        raise DeliveryError(f"The mail server refused an address with {code}: {quote_answer(text)}") from None
    except (smtplib.SMTPException, ssl.SSLError, OSError, ValueError) as failure:
        raise DeliveryError(f"The mail server could not be used ({type(failure).__name__}).") from None
    return "The mail server accepted it."
