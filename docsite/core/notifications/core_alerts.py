"""The alerts of the core: a key that expires soon, and a disk that is nearly full."""

import shutil
from collections.abc import Collection, Iterator
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from docsite.core.delivery import events
from docsite.core.delivery.events import Description, EventType
from docsite.core.delivery.models import Event
from docsite.core.notifications import alerts
from docsite.core.notifications.alerts import Problem
from docsite.core.notifications.topics import Topic
from docsite.core.tenants.models import ApiKey, Project, Role

KEY_EXPIRING = "key.expiring"
EXPIRY_NOTICE = timedelta(days=7)
FORGOTTEN = timedelta(days=7)  # after the end of a key, whoever needs it has noticed
LEAST_FREE_SHARE = 0.1  # of a disk
LEAST_FREE_BYTES = 1024**3
HEALTHY = 1.2  # times as much ends the alert, so that it does not come and go


def register() -> None:
    """Register the checks and the event."""
    alerts.add_check(Topic("key", "A key expires within a week", Role.OWNER), find_expiring_keys)
    alerts.add_service_check(Topic("disk", "The disk of the service is nearly full", None), find_full_disk)
    events.add_event_type(EventType(KEY_EXPIRING, "A key expires within a week", _describe))


def find_expiring_keys(project: Project, open_causes: Collection[str]) -> Iterator[Problem]:
    """The keys that expire soon, or have just expired. Those of the organization belong to its first project."""
    first = project.organization.projects.order_by("pk").values_list("pk", flat=True).first()
    own = Q(project=project) | Q(project=None) if first == project.pk else Q(project=project)
    now = timezone.now()
    keys = ApiKey.objects.filter(own, organization=project.organization_id, revoked_at=None)
    for key in keys.filter(expires_at__gt=now - FORGOTTEN, expires_at__lte=now + EXPIRY_NOTICE).order_by("pk"):
        name = f"“{key.name}”" if key.name else str(key)
        yield Problem(
            str(key.pk),
            f"The key {name} expires on {key.expires_at:%Y-%m-%d}",
            f"The {key.kind} key {key} stops working on {key.expires_at:%Y-%m-%d at %H:%M} UTC. Create a new key, put "
            "it where the old one is used, and revoke the old one.",
            project.get_absolute_url(),
            (KEY_EXPIRING, {"key": key.pk}),
        )


def _describe(event: Event) -> Description:
    key = ApiKey.objects.filter(pk=event.facts["key"]).first()
    data = {
        "keyName": key.name if key else None,
        "kind": key.kind if key else None,
        "expiresAt": key.expires_at.isoformat(timespec="seconds") if key and key.expires_at else None,
    }
    name = f"“{key.name}”" if key and key.name else "A key" if key is None else f"The {key.kind} key"
    return Description(data, f"{name} expires at {data['expiresAt'] or 'a time'}.", event.project.get_absolute_url())


def find_full_disk(open_causes: Collection[str]) -> Iterator[Problem]:
    """The disk of the data folder, if little of it is free."""
    usage = shutil.disk_usage(settings.DATA_DIR)
    factor = HEALTHY if open_causes else 1
    if usage.free < factor * max(LEAST_FREE_BYTES, LEAST_FREE_SHARE * usage.total):
        yield Problem(
            "data",
            "The disk of the documentation service is nearly full",
            f"{filesizeformat(usage.free)} of {filesizeformat(usage.total)} are free. When nothing is left, questions, "
            "views and searches cannot be stored. Make room, or move the data folder to a larger disk.",
            "/admin/",
        )
