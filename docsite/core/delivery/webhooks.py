"""Webhooks as Standard Webhooks describes them (https://www.standardwebhooks.com): secrets, signatures, and calls.

The receiver gets JSON with `type`, `timestamp` and `data`. `webhook-id` is the same in each attempt: by it, the
receiver recognizes a repetition. `webhook-signature` has `v1,` and the base64 of an HMAC-SHA256 of
`id.timestamp.body`, once for each valid secret. A chat gets a message of its own form instead (`chats`). Calls go to
public hosts only; see `docsite.core.network`. `outbox` stores and repeats them.
"""

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Mapping
from typing import Any

import httpcore
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import timezone

from docsite.core.delivery import chats
from docsite.core.delivery.messages import DeliveryError, WebhookCall, quote_answer
from docsite.core.delivery.models import Webhook
from docsite.core.network import connections
from docsite.core.network.private_hosts import PrivateHosts
from docsite.core.tenants.models import Project
from docsite.core.tenants.validators import origin_of
from docsite.core.unicode.addresses import urlsplit

PREFIX = "whsec_"
MAX_URL = 500
_SECRET_BYTES = 32
_SECONDS = 15.0  # of a whole call
_MAX_ANSWER = 64 * 1024  # bytes of the response that are read
_MAX_QUOTE = 120  # characters of a refusal that the owner sees


def validate_url(url: str) -> None:
    """Raise ValidationError unless the URL is an https address. Hosts that the operator allows may have http."""
    try:
        origin_of(url)
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme.lower()]
    except ValueError:
        raise ValidationError("Write an address such as https://example.com/hooks/docs.") from None
    if parts.username is not None or parts.fragment or not url.isascii() or not url.isprintable() or " " in url:
        raise ValidationError("The address must have no user, fragment, spaces or letters beyond ASCII.")
    if parts.scheme.lower() != "https" and not _private_hosts().allows(parts.hostname or "", port):
        raise ValidationError("The address must begin with https://.")


def check_target(url: str, *, is_superuser: bool) -> None:
    """Raise ValidationError unless the user may name this URL. Only superusers name hosts in the operator's network."""
    validate_url(url)
    if _private_hosts().includes_site(urlsplit(url).hostname or "") and not is_superuser:
        raise ValidationError("Only superusers may name a host of WEBHOOK_PRIVATE_HOSTS.")


def store(project: Project, webhook: Webhook | None, url: str) -> tuple[Webhook, str]:
    """Store the address of a webhook. Returns it with its secret if that is new, else with an empty text."""
    if webhook:
        webhook.url = url
        webhook.save()
        return webhook, ""
    webhook, secret = build(project, url)
    webhook.save()
    return webhook, secret


def build(project: Project, url: str) -> tuple[Webhook, str]:
    """A new webhook, which is not stored yet, and its secret."""
    secret = _create_secret()
    return Webhook(project=project, url=url, secret=secret), secret


def rotate(webhook: Webhook) -> str:
    """Give a webhook a new secret, and return it. For a day, events are signed with the previous one, too."""
    webhook.previous_secret, webhook.secret, webhook.rotated_at = webhook.secret, _create_secret(), timezone.now()
    webhook.save()
    return webhook.secret


def _create_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def sign(secret: str, event_id: str, timestamp: int, body: bytes) -> str:
    """The signature of one secret."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    digest = hmac.new(key, f"{event_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def call(message: WebhookCall, event_id: str, event: str, created_at: str) -> str:
    """Send an event. Returns what the receiver answered, as a sentence. Raises `DeliveryError`."""
    webhook = message.webhook
    headers: dict[str | bytes, str | bytes] = {
        "Content-Type": "application/json",
        "User-Agent": "docs-service-webhooks/1",
    }
    if webhook.format == Webhook.Format.STANDARD:
        body = _encode({"type": event, "timestamp": created_at, "data": message.data})
        timestamp = int(time.time())
        headers |= {
            "webhook-id": event_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": " ".join(sign(secret, event_id, timestamp, body) for secret in webhook.secrets()),
        }
    else:
        body = _encode(chats.build_body(webhook.format, message.sentence, message.data["url"]))
    status, answer = _post(webhook.url, headers, body)
    if not 200 <= status < 300:
        quoted = quote_answer(answer)[:_MAX_QUOTE].strip()
        raise DeliveryError(f"The webhook answered with status {status}{f': {quoted}' if quoted else ''}.")
    return f"The webhook answered with status {status}."


def _encode(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


def _post(url: str, headers: Mapping[str | bytes, str | bytes], body: bytes) -> tuple[int, bytes]:
    """Send a POST request. Returns the status and the beginning of the answer. Redirects are not followed."""
    backend = connections.GuardedBackend(_private_hosts(), connections.resolve)
    try:
        with (
            connections.deadline(_SECONDS) as end,
            httpcore.ConnectionPool(network_backend=backend) as pool,
            pool.stream("POST", url, headers=headers, content=body) as response,
        ):
            answer = b""
            for piece in response.iter_stream():
                answer += piece
                if len(answer) > _MAX_ANSWER or time.monotonic() > end:
                    break
            return int(response.status), answer[:_MAX_ANSWER]
    except connections.PrivateAddressError:
        raise DeliveryError("The host of the webhook is at no public address (WEBHOOK_PRIVATE_HOSTS).") from None
    except connections.UnknownHostError:
        raise DeliveryError("The host of the webhook does not exist.") from None
    except httpcore.TimeoutException:
        raise DeliveryError(f"The webhook did not answer within {_SECONDS:g} seconds.") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol, ValueError) as failure:
        raise DeliveryError(f"The webhook could not be reached ({type(failure).__name__}).") from None


def _private_hosts() -> PrivateHosts:
    return PrivateHosts(settings.ENV.webhook_private_hosts)
