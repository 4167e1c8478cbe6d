"""The weekly digest of a project: sections that the apps register, sent on Monday morning about the last seven days."""

import logging
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta

from django.db import transaction

from docsite.core.delivery import outbox
from docsite.core.delivery.messages import Email
from docsite.core.delivery.models import Delivery
from docsite.core.notifications import email_content, subscriptions, topics
from docsite.core.notifications.email_content import EmailContent, Section
from docsite.core.notifications.models import Digest
from docsite.core.notifications.subscriptions import Recipient
from docsite.core.tenants.models import Project

logger = logging.getLogger(__name__)

ISSUED = "digest.issued"  # the kind of its deliveries
HOUR = 6  # of Monday, UTC
WEEK = timedelta(days=7)

# A section of the half-open range. None: there is nothing to say.
Load = Callable[[Project, datetime, datetime], Section | None]
_sections: list[tuple[int, Load]] = []


def register() -> None:
    """Let the outbox deliver digests."""
    outbox.add_event_kind(ISSUED, render)


def add_section(load: Load, *, position: int) -> None:
    """Add a section to the digest of every project. Apps call this when they start."""
    _sections.append((position, load))


def issue_due(now: datetime) -> None:
    """Issue the digests of the last week, if it is Monday morning or later, each once."""
    monday = find_monday(now)
    if Digest.objects.filter(week=monday).exists():
        return
    with transaction.atomic():
        _, is_new = Digest.objects.get_or_create(week=monday)
        if is_new:
            subscriptions.add_deliveries(subscriptions.list_receivers(topics.DIGEST.key), ISSUED, monday)


def find_monday(now: datetime) -> date:
    """The latest Monday whose digest is due."""
    due = now.astimezone(UTC) - timedelta(hours=HOUR)
    return due.date() - timedelta(days=due.weekday())


def render(delivery: Delivery) -> Email:
    """The e-mail of a digest. Its numbers are those at the time of sending."""
    monday = date.fromisoformat(delivery.subject.partition(":")[0])
    return build_email(subscriptions.find_recipient(delivery, topics.DIGEST.key), monday)


def build_email(recipient: Recipient, monday: date) -> Email:
    """The digest of the seven days before a Monday."""
    project = recipient.subscription.project
    end = datetime.combine(monday, time(), UTC)
    start = end - WEEK
    sections = [
        section for _, load in sorted(_sections, key=lambda one: one[0]) if (section := load(project, start, end))
    ]
    days = f"{start:%Y-%m-%d} to {end - timedelta(days=1):%Y-%m-%d}"
    content = EmailContent(
        f"[{project.name}] Your documentation, {days}",
        f"{project.name}: your week",
        f"{days}, in UTC." if sections else f"Nothing happened in this week, {days}.",
        "Open the overview",
        f"/admin/project/{project.domain}?from={start:%Y-%m-%d}&to={end:%Y-%m-%d}",
        sections,
    )
    return email_content.build_email(content, recipient)
