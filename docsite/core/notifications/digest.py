"""The weekly digest of a project: sections that the apps register, sent on Monday morning about the last seven days."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo

from django.db import transaction
from django.utils import timezone

from docsite.core.delivery.messages import Email
from docsite.core.delivery.models import Delivery
from docsite.core.http import dates
from docsite.core.notifications import email_content, subscriptions, topics
from docsite.core.notifications.email_content import EmailContent, Section
from docsite.core.notifications.models import Digest
from docsite.core.notifications.subscriptions import Recipient
from docsite.core.tenants.models import Project

ISSUED = "digest.issued"  # the kind of its deliveries
HOUR = 6  # of Monday, in the time zone of the project
WEEK = timedelta(days=7)

# A section of the half-open range. None: there is nothing to say.
Load = Callable[[Project, datetime, datetime], Section | None]
_sections: list[tuple[int, Load]] = []


def add_section(load: Load, *, position: int) -> None:
    """Add a section to the digest of every project. Apps call this when they start."""
    _sections.append((position, load))


def issue_due(now: datetime) -> None:
    """Issue the digests of the last week, where it is Monday morning or later, each once.

    A zone without a digest of the week before gets none: it is new, and so may be those who would get it.
    """
    zones = Project.objects.order_by().values_list("time_zone", flat=True).distinct()
    weeks = {(find_monday(now, dates.find_zone(zone) or UTC), zone) for zone in zones}
    recent = Digest.objects.filter(week__in={monday - ago for monday, _ in weeks for ago in (timedelta(), WEEK)})
    issued = set(recent.values_list("week", "time_zone"))
    for monday, zone in weeks - issued:
        with transaction.atomic():
            _, is_new = Digest.objects.get_or_create(week=monday, time_zone=zone)
            if is_new and (monday - WEEK, zone) in issued:
                _issue(monday, zone)


def follow(project: Project, old_zone: tzinfo, now: datetime) -> None:
    """Issue the digest of a project that moved, before its Monday morning, to a zone where Monday morning is over."""
    monday = find_monday(now, project.zone)
    if find_monday(now, old_zone) < monday:
        _issue(monday, project.time_zone, project)


def _issue(monday: date, zone: str, only: Project | None = None) -> None:
    """Add the e-mail of a week for the projects of a zone, unless the project had it in the zone that it had before."""
    issued = Delivery.objects.filter(event=ISSUED, subject__startswith=f"{monday}:")
    sent = set(issued.values_list("subject", flat=True))
    found = [
        receiver
        for receiver in subscriptions.list_receivers(topics.DIGEST.key)
        if receiver.project.time_zone == zone and only in (None, receiver.project)
    ]
    subscriptions.add_deliveries([one for one in found if f"{monday}:{one.pk}" not in sent], ISSUED, monday)


def find_monday(now: datetime, zone: tzinfo) -> date:
    """The latest Monday whose digest is due in a time zone."""
    day = dates.find_day(now - timedelta(hours=HOUR), zone)
    return day - timedelta(days=day.weekday())


def render(delivery: Delivery) -> Email:
    """The e-mail of a digest. Its numbers are those at the time of sending."""
    monday = date.fromisoformat(delivery.subject.partition(":")[0])
    return build_email(subscriptions.find_recipient(delivery, topics.DIGEST.key), monday)


def build_email(recipient: Recipient, monday: date) -> Email:
    """The digest of the seven days before a Monday."""
    project = recipient.subscription.project
    first = monday - WEEK
    with timezone.override(project.zone):
        start, end = (dates.parse(str(day)) for day in (first, monday))
        sections = [
            section for _, load in sorted(_sections, key=lambda one: one[0]) if (section := load(project, start, end))
        ]
    days = f"{first} to {monday - timedelta(days=1)}"
    content = EmailContent(
        f"[{project.name}] Your documentation, {days}",
        f"{project.name}: your week",
        f"{days}, {project.zone}." if sections else f"Nothing happened in this week, {days}.",
        "Open the overview",
        f"/admin/project/{project.domain}?from={first}&to={monday}",
        sections,
    )
    return email_content.build_email(content, recipient)
