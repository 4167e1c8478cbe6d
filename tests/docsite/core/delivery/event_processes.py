"""What processes do in the tests of events: each runs in a process and a database of its own."""

import os
import signal

from docsite.core.delivery import background, webhooks
from docsite.core.delivery.models import Delivery
from docsite.core.tenants.management.commands.createproject import create_project
from search.models import Source
from search.stored_sources import queue


def add_webhook(url: str) -> None:
    """Create a project with a webhook."""
    project, *_ = create_project("killed", "Killed", "https://docs.acme.example", [])
    webhook, _ = webhooks.build(project, url)
    webhook.events = "source.read"
    webhook.save()
    Source.objects.create(project=project, name="docs", location="https://docs.acme.example")


def die_after_reading() -> None:
    """Read a source, and die by SIGKILL before anything is sent."""
    source = Source.objects.get()
    queue.claim(source)
    queue.finish(source, Source.State.DONE)
    os.kill(os.getpid(), signal.SIGKILL)


def die_after_sending() -> None:
    """Send the delivery, and die by SIGKILL before its result is stored."""
    finish = background.outbox.finish

    def die(*arguments: object, **options: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    background.outbox.finish = die  # type: ignore[assignment]
    background.send_next()
    background.outbox.finish = finish


def send() -> None:
    """Let the time of the leases pass, and send what is due."""
    Delivery.objects.filter(state="waiting").update(due_at="2020-01-01T00:00:00Z", leased_until=None)
    while background.send_next():
        pass
