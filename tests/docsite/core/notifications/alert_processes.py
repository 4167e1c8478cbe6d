"""What processes do in the tests of alerts: each runs in a process and a database of its own."""

import os
import signal

from django.contrib.auth import get_user_model

from docsite.core.notifications import alerts
from docsite.core.notifications.models import Subscription
from docsite.core.tenants.management.commands.createproject import create_project
from search.models import Source


def subscribe() -> None:
    """Create a project with a failed source, and a superuser who wants to hear of it."""
    project, *_ = create_project("alerted", "Alerted", "https://docs.acme.example", [])
    user = get_user_model().objects.create_superuser("root")
    address = "root@acme.example"
    Subscription.objects.create(
        project=project,
        user=user,
        email=address,
        confirmed_email=address,
        topics="source",
        service_url="http://testserver",
    )
    Source.objects.create(
        project=project, name="docs", location="https://docs.acme.example", state="failed", error="Gone."
    )


def die_after_checking() -> None:
    """Find the problem, and die by SIGKILL before anything is sent."""
    alerts.check_all()
    os.kill(os.getpid(), signal.SIGKILL)
