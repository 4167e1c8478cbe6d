"""The secrets of visitor hashes, and their rotation. A visitor has one hash until the secret changes.

A project without rotation keeps its first secret. With rotation each period has a
random secret of its own, which is deleted two days after the period's end. Then nobody
can compute its hashes again, and nothing links them to those of another period. For
readers who asked not to be tracked the period is always a day: they are counted, but
not recognized the next day.
"""

from datetime import UTC, date, datetime, time, timedelta

from django.db import transaction
from django.utils import timezone

from analytics.models import AnalyticsSettings, VisitorSecret, new_visitor_secret
from docsite.core.access.authentication import ttl_cache
from docsite.core.tenants.models import Project
from search.query_log.recording import forget_callers

LATE = timedelta(days=2)  # views may arrive so long after their period
_QUARTER = 90  # days

Rotation = AnalyticsSettings.Rotation


def find_cached_secret(project: Project, at: datetime, *, private: bool) -> str | None:
    """The secret that `secret_of` returns, if it is cached; else None."""
    rotation = _rotation(project, private=private)
    if rotation == Rotation.NEVER:
        return AnalyticsSettings.for_project(project).visitor_secret or None
    secret: str | None = ttl_cache.peek(("visitor secret", project.pk, _period(rotation, at)[0]))
    return secret


def is_lasting(project: Project, *, private: bool) -> bool:
    """Whether `secret_of` returns the same secret for every instant."""
    return _rotation(project, private=private) == Rotation.NEVER


def secret_of(project: Project, at: datetime, *, private: bool) -> str:
    """The hexadecimal secret for visitor hashes at an instant. `private`: the reader asked not to be tracked."""
    rotation = _rotation(project, private=private)
    if rotation == Rotation.NEVER:
        return AnalyticsSettings.stored_for(project).visitor_secret
    name, end = _period(rotation, at)
    secret: str = ttl_cache.get(
        ("visitor secret", project.pk, name), lambda: _get_or_create_secret(project.pk, name, end)
    )
    return secret


def stored_secrets(project: Project) -> list[str]:
    """Every secret of the project that is stored now."""
    own = AnalyticsSettings.objects.filter(project=project.pk).values_list("visitor_secret", flat=True)
    return [*own, *VisitorSecret.objects.filter(project=project).values_list("secret", flat=True)]


def forget(project: Project) -> None:
    """Replace every secret of a project, and unlink its searches. Every process follows within seconds.

    A visitor who returns counts as a new one.
    """
    with transaction.atomic():
        VisitorSecret.objects.filter(project=project).delete()
        settings = AnalyticsSettings.stored_for(project)
        settings.visitor_secret = new_visitor_secret()
        settings.save(update_fields=["visitor_secret"])
        forget_callers(project)


def sweep() -> None:
    """Delete the secrets of periods that are over."""
    VisitorSecret.objects.filter(expires_at__lte=timezone.now()).delete()


def _rotation(project: Project, *, private: bool) -> str:
    return Rotation.DAY if private else AnalyticsSettings.for_project(project).secret_rotation


def _period(rotation: str, at: datetime) -> tuple[str, date]:
    """The name of the period of an instant, and the first day after the period."""
    day = at.astimezone(UTC).date()
    if rotation == Rotation.DAY:
        return day.isoformat(), day + timedelta(days=1)
    if rotation == Rotation.MONTH:
        return f"{day:%Y-%m}", (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    number = day.toordinal() // _QUARTER
    return f"90d {number}", date.fromordinal((number + 1) * _QUARTER)


def _get_or_create_secret(project_id: int, period: str, end: date) -> str:
    """The secret of a period. It is created when it is first needed, and again for a view that comes after its end."""
    now = timezone.now()
    known = VisitorSecret.objects.filter(project=project_id, period=period)
    if row := known.filter(expires_at__gt=now).first():
        return row.secret
    known.filter(expires_at__lte=now).delete()
    expires_at = max(datetime.combine(end, time(), UTC), now) + LATE
    row, _ = VisitorSecret.objects.get_or_create(
        project_id=project_id,
        period=period,
        defaults={"secret": new_visitor_secret(), "expires_at": expires_at},
    )
    return row.secret
