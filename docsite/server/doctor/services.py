"""The model, the mail server, and the work in the background."""

import smtplib

from django.conf import settings
from django.core.mail import get_connection
from django.db import DatabaseError

from analytics.collecting.view_log import state
from analytics.collecting.view_log.connection import LogUnavailableError
from analytics.counting.unsealed import count_waiting_views
from assistant import model_status
from assistant.upstream import UpstreamError
from docsite.core.delivery import mail
from docsite.core.delivery.models import Delivery
from docsite.server.doctor.finding import Finding
from search.models import Source

MAX_WAITING_VIEWS = 100_000
MAX_LOGGED_SECONDS = 60.0


def check_model() -> Finding:
    """Whether the model answers a short request."""
    try:
        seconds = model_status.measure()
    except UpstreamError as failure:
        advice = f"{failure.advice} Then run: manage.py checkmodel".strip()
        return Finding("Model", f"{model_status.describe().removeprefix('by ')}: {failure.reason}", advice)
    if seconds is None:
        return Finding("Model", f"answers are {model_status.describe()}")
    return Finding("Model", f"{model_status.describe().removeprefix('by ')} answered in {seconds:.1f} s")


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
    return Finding("Mail", "the mail server takes the login of EMAIL_URL")


def check_deliveries() -> Finding | None:
    """Deliveries to owners that were given up."""
    try:
        failed = Delivery.objects.filter(state=Delivery.State.FAILED).count()
        waiting = Delivery.objects.filter(state=Delivery.State.WAITING).count()
    except DatabaseError:
        return None  # the check of the database says why
    if failed:
        advice = "Open “Webhooks” and “Support requests” of the projects: each says why, and can send again."
        return Finding("Deliveries", f"{failed} e-mails and webhooks have failed", advice)
    return Finding("Deliveries", f"{waiting} wait, none has failed")


def check_sources() -> Finding | None:
    """Stored sources that could not be read the last time."""
    try:
        failed = list(Source.objects.filter(state=Source.State.FAILED).values_list("project__domain", "name")[:5])
    except DatabaseError:
        return None
    if failed:
        names = ", ".join(f"{domain}/{name}" for domain, name in failed)
        return Finding("Sources", f"could not be read: {names}", "Open them in the admin, which shows the reason.")
    return Finding("Sources", "none has failed")


def check_views() -> Finding | None:
    """Views that are stored, but not yet counted."""
    try:
        waiting = count_waiting_views()
    except DatabaseError:
        return None
    if waiting > MAX_WAITING_VIEWS:
        return Finding("Views", f"{waiting:,} wait to be counted", "Is a process serving? Or run: manage.py seal")
    return Finding("Views", f"{waiting:,} wait to be counted")


def check_view_log() -> Finding | None:
    """Whether the view log answers, is fit to hold views, and is emptied. None without one."""
    if not settings.ENV.view_log_url:
        return None
    try:
        waiting, refused = state.read(), state.count_refused()
    except LogUnavailableError as failure:
        advice = "Look at VIEW_LOG_URL and the servers of NATS: JetStream must be on, with room on the disk."
        return Finding("View log", f"it does not work: {failure}", advice)
    fact = (
        f"{waiting.messages:,} messages wait for the database, the oldest for {waiting.oldest_seconds:.0f} seconds; "
        f"replicas: {waiting.replicas}; refused: {refused:,}"
    )
    if waiting.oldest_seconds > MAX_LOGGED_SECONDS:
        return Finding("View log", fact, "Is a process or `manage.py worker` running, and what does its log say?")
    if refused:
        return Finding("View log", fact, "The log file says why: look for “goes to docs_views_refused”.")
    return Finding("View log", fact)
