"""Alerts: checks find problems, and an e-mail says that one was found, and once that it is over.

alerts.add_check(Topic("source", "A source could not be read"), find_failed_sources)

A problem has a cause. While its cause is open, there is no further e-mail about it. It is over when no check has found
it for `QUIET`, so a problem that comes and goes is one problem.
"""

import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from docsite.core.delivery import events
from docsite.core.delivery.messages import Email
from docsite.core.delivery.models import Delivery, Webhook
from docsite.core.notifications import email_content, subscriptions, topics
from docsite.core.notifications.email_content import EmailContent
from docsite.core.notifications.models import Alert, Subscription
from docsite.core.notifications.topics import Topic
from docsite.core.tenants.models import Project

logger = logging.getLogger(__name__)

OPENED, CLEARED = "alert.opened", "alert.cleared"  # kinds of deliveries
QUIET = timedelta(minutes=10)


@dataclass(frozen=True)
class Problem:
    """Something that needs a person. `cause` is unique among the problems of its topic and project.

    `event` is the type and the facts of an event for webhooks, which is published when the problem is new.
    """

    cause: str
    title: str
    text: str
    path: str
    event: tuple[str, dict[str, Any]] | None = None


# A check gets the project and the causes of its topic that are open now.
Check = Callable[[Project, Collection[str]], Iterable[Problem]]
ServiceCheck = Callable[[Collection[str]], Iterable[Problem]]
_checks: dict[str, Check] = {}
_service_checks: dict[str, ServiceCheck] = {}


def add_check(topic: Topic, check: Check) -> None:
    """Look for problems of each project, once a minute. Apps call this when they start."""
    topics.add_topic(topic)
    _checks[topic.key] = check


def add_service_check(topic: Topic, check: ServiceCheck) -> None:
    """Look for problems of the service itself, once a minute."""
    topics.add_topic(topic)
    _service_checks[topic.key] = check


def check_all() -> None:
    """Run all checks, and store what they find. A check that fails is logged, and changes nothing."""
    for project in _list_watched():
        for topic, check in _checks.items():
            _run(topic, project, partial(check, project))
    for topic, service_check in _service_checks.items():
        _run(topic, None, service_check)


def _list_watched() -> "QuerySet[Project]":
    """The projects whose alerts somebody gets, by e-mail or webhook."""
    subscribed = Subscription.objects.exclude(topics="").values("project")
    connected = Webhook.objects.exclude(events="").values("project")
    alerted = Alert.objects.filter(cleared_at=None, project__isnull=False).values("project")
    return Project.objects.filter(Q(pk__in=subscribed) | Q(pk__in=connected) | Q(pk__in=alerted)).order_by("pk")


def _run(topic: str, project: Project | None, check: ServiceCheck) -> None:
    prefix = f"{project.pk if project else 'service'}:{topic}:"
    try:
        rows = {row.cause.removeprefix(prefix): row for row in _list_open(topic, project)}
        found = {problem.cause: problem for problem in check(set(rows))}
        for cause, problem in found.items():
            if cause not in rows:
                _open(topic, project, f"{prefix}{cause}", problem)
            elif rows[cause].absent_since:
                Alert.objects.filter(pk=rows[cause].pk).update(absent_since=None)
        for cause, row in rows.items():
            if cause not in found:
                _clear(row)
    except Exception:  # the other checks must run
        logger.exception("The alerts “%s” could not be checked.", topic)


def _list_open(topic: str, project: Project | None) -> list[Alert]:
    return list(Alert.objects.filter(project=project, topic=topic, cleared_at=None).select_related("project"))


def _open(topic: str, project: Project | None, cause: str, problem: Problem) -> None:
    with transaction.atomic():
        values = {
            "project": project,
            "topic": topic,
            "title": problem.title[:300],
            "text": problem.text,
            "path": problem.path,
        }
        alert, is_new = Alert.objects.get_or_create(cause=cause[:200], cleared_at=None, defaults=values)
        if is_new:
            subscriptions.add_deliveries(_list_receivers(topic, project), OPENED, alert.pk)
            if problem.event and project:
                events.publish(project, *problem.event)


def _clear(alert: Alert) -> None:
    """Note that a problem was not found. After `QUIET` it is over, which people learn once."""
    now = timezone.now()
    own = Alert.objects.filter(pk=alert.pk, cleared_at=None)
    if alert.absent_since is None:
        own.update(absent_since=now)
    elif now - alert.absent_since >= QUIET:
        with transaction.atomic():
            if own.update(cleared_at=now):
                subscriptions.add_deliveries(_list_receivers(alert.topic, alert.project), CLEARED, alert.pk)


def _list_receivers(topic: str, project: Project | None) -> Collection[Subscription]:
    """The people who get an alert. Each gets one about the service once, whatever their projects."""
    receivers = subscriptions.list_receivers(topic, project)
    return receivers if project else {receiver.user_id: receiver for receiver in reversed(receivers)}.values()


def render(delivery: Delivery) -> Email | None:
    """The e-mail about an alert: that it was found, or that it is over."""
    alert = Alert.objects.filter(pk=delivery.subject.partition(":")[0]).first()
    if alert is None:
        return None
    recipient = subscriptions.find_recipient(delivery, alert.topic)
    name = recipient.subscription.project.name if alert.project_id else "Documentation service"
    title, text = alert.title, alert.text
    if delivery.event == CLEARED:
        title = f"Over: {title}"
        text = f"What we wrote about on {alert.opened_at:%Y-%m-%d at %H:%M} UTC is no longer found."
    content = EmailContent(f"[{name}] {title}", title, text, "Open the page", alert.path)
    return email_content.build_email(content, recipient)
