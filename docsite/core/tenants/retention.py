"""How long the data of a project is stored, where its owner has set a number of days."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Model
from django.utils import timezone

from docsite.core.tenants.frozen import list_frozen


def list_cutoffs(settings: type[Model], field: str) -> Iterator[tuple[int, datetime]]:
    """The id of each project that has set this number of days, with the time before which its data is deleted.

    Projects that are frozen are left out.
    """
    rows = settings._default_manager.filter(**{f"{field}__isnull": False}).exclude(project__in=list_frozen())
    for project_id, days in rows.values_list("project_id", field):
        yield project_id, timezone.now() - timedelta(days=days)
