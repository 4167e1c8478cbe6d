"""What of the deliveries runs beside the requests."""

import smtplib
from collections.abc import Iterable

from django.core.mail import get_connection  # noqa: TID251  # opens a connection, sends nothing
from django.db import DatabaseError
from django.utils import timezone

from docsite.core.components import Component, Finding
from docsite.core.components.metrics import Metric
from docsite.core.delivery import background, events, mail
from docsite.core.delivery.models import Delivery
from docsite.core.tenants.models import Invitation


def count(state: Delivery.State) -> int:
    """How many deliveries are in a state."""
    return Delivery.objects.filter(state=state).count()


def measure_deliveries() -> Iterable[Metric]:
    """How many deliveries wait, and how many were given up."""
    deliveries = Metric("docs_deliveries", "gauge", "E-mails and webhooks that wait or were given up.")
    for state in (Delivery.State.WAITING, Delivery.State.FAILED):
        deliveries.add(count(state), {"state": state.value})
    yield deliveries


def check_mail() -> Finding:
    """Whether the mail server takes a login. No e-mail is sent."""
    if not mail.is_configured():
        return Finding("Mail", "no mail server is set (EMAIL_URL); owners get no e-mail")
    server = get_connection()
    try:
        server.open()
        server.close()
    except (smtplib.SMTPException, OSError) as failure:
        return Finding("Mail", f"the mail server refuses us ({type(failure).__name__})", "Look at EMAIL_URL.")
    try:
        unsent = Invitation.objects.exclude(mail_failure="").filter(expires_at__gt=timezone.now()).order_by("pk").last()
    except DatabaseError:
        unsent = None  # the check of the database says why
    if unsent:
        advice = f"Withdraw the invitation of {unsent.email} under “People”, and invite again."
        return Finding("Mail", f"an invitation was not sent: {unsent.mail_failure.rstrip('.')}", advice)
    return Finding("Mail", "the mail server takes the login of EMAIL_URL")


def check_deliveries() -> Finding:
    """Deliveries to owners that were given up."""
    failed, waiting = count(Delivery.State.FAILED), count(Delivery.State.WAITING)
    if failed:
        advice = "Open “Webhooks” and “Support requests” of the projects: each says why, and can send again."
        return Finding("Deliveries", f"{failed} e-mails and webhooks have failed", advice)
    return Finding("Deliveries", f"{waiting} wait, none has failed")


COMPONENTS = (
    Component(
        name="deliveries",
        threads=(background.thread,),
        sweep=events.sweep,
        stored_metrics=measure_deliveries,
        doctor=(check_mail, check_deliveries),
    ),
)
