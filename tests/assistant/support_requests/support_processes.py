"""What processes do in the tests of deliveries: each runs in a process and a database of its own."""

import os
import signal

from django.conf import settings

from assistant.models import SupportRequest, SupportSettings
from assistant.support_requests import notifications, store
from docsite.core.delivery import background, outbox, sending
from docsite.core.delivery.models import Delivery
from docsite.core.tenants.management.commands.createproject import create_project
from docsite.core.tenants.models import Project

DOMAIN = "desk"


def switch_on() -> None:
    """Create a project that takes support requests."""
    project, *_ = create_project(DOMAIN, "Desk", "https://docs.acme.example", [])
    SupportSettings.objects.create(project=project, service_url="http://testserver", emails=["owner@acme.example"])


def store_requests(first: str, number: str) -> None:
    """Store requests as a reader's request does, without sending anything."""
    project = Project.objects.get(domain=DOMAIN)
    for index in range(int(first), int(first) + int(number)):
        request = SupportRequest.objects.create(
            project=project, form_id=f"form-{index}", email="ada@reader.example", subject=f"Number {index}", message="?"
        )
        outbox.add(project, store.CREATED, request.request_id, [Delivery.Channel.EMAIL])


def die_while_sending() -> None:
    """Claim a delivery, and die by SIGKILL before it is sent."""

    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    notifications.register()
    sending.send = die  # type: ignore[assignment]
    background.send_next()


def end_lease() -> None:
    """Let the time of the leases pass."""
    Delivery.objects.filter(state="waiting").update(due_at="2020-01-01T00:00:00Z", leased_until=None)


def print_mail_settings() -> None:
    """Print what the environment makes of the mail server."""
    names = ("HOST", "PORT", "HOST_USER", "HOST_PASSWORD", "USE_TLS", "USE_SSL")
    print(*(getattr(settings, f"EMAIL_{name}") for name in names), settings.DEFAULT_FROM_EMAIL)  # noqa: T201
