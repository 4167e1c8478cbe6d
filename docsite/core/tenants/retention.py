"""How long the data of a project is stored, where its owner has set a number of days."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Model
from django.utils import timezone


def list_cutoffs(settings: type[Model], field: str) -> Iterator[tuple[int, datetime]]:
    """The id of each project that has set this number of days, with the time before which its data is deleted."""
    rows = settings._default_manager.filter(**{f"{field}__isnull": False})
    for project_id, days in rows.values_list("project_id", field):
        yield project_id, timezone.now() - timedelta(days=days)
