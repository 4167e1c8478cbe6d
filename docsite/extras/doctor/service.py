"""The service itself: its release, its accounts, its background work, and its alerts."""

import platform
from datetime import timedelta

from django.conf import settings
from django.contrib.auth import get_user_model
from django.utils import timezone

from docsite.core.components import Finding
from docsite.core.notifications.models import Alert, Routine

LATE = timedelta(minutes=30)  # the longest work of a routine, and the lease of one that was killed
MAX_NAMED = 3


def check_release() -> Finding:
    """The versions, and whether the files of the widget are there."""
    fact = f"{settings.VERSION} with Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    if not (settings.WIDGET_DIST / "manifest.json").exists():
        return Finding("Release", f"{fact}, without the files of the widget", "Build them: make widget")
    return Finding("Release", fact)


def check_accounts() -> Finding:
    """Whether somebody can administer the service."""
    owners = get_user_model().objects.filter(is_active=True, is_superuser=True).count()
    if owners:
        return Finding("Accounts", f"{owners} active superuser{'s' * (owners > 1)}")
    advice = "Run: manage.py createsuperuser; or open the address of the first account, which the log has."
    return Finding("Accounts", "there is no active superuser", advice)


def check_background() -> Finding:
    """Whether the work beside the requests is done on time."""
    due = Routine.objects.order_by("due_at").values_list("name", "due_at").first()
    if due is None:
        return Finding("Background work", "has not run yet")
    late = timezone.now() - due[1]
    if late > LATE:
        advice = "Is a process serving? Start it, or look for this work in its log."
        return Finding("Background work", f"“{due[0]}” is late by {late // timedelta(minutes=1):,} minutes", advice)
    return Finding("Background work", "is on time")


def check_alerts() -> Finding:
    """What the service itself has found, and nobody has mended yet."""
    titles = list(Alert.objects.filter(cleared_at=None).order_by("opened_at").values_list("title", flat=True))
    if not titles:
        return Finding("Alerts", "none is open")
    more = f" and {len(titles) - MAX_NAMED} more" if len(titles) > MAX_NAMED else ""
    fact = f"open are: {'; '.join(titles[:MAX_NAMED])}{more}"
    return Finding("Alerts", fact, "Open the start page of the admin: each leads to the page that mends it.")
