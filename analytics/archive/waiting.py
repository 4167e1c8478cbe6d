"""Rows that wait for the archive."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from analytics.models import EPOCH, ArchivedRange
from docsite.core.tenants.models import Project

LONGEST_WAIT = timedelta(days=1)  # of a row for others, until it gets a file with fewer rows


@dataclass(frozen=True)
class Waiting:
    """The next rows of a project, at most as many as a file takes: number, last id, first and last arrival."""

    rows: int
    last: int
    oldest: datetime
    newest: datetime
    is_full: bool

    def is_due(self, now: datetime) -> bool:
        """Whether they should get a file now."""
        return self.is_full or self.oldest <= now - LONGEST_WAIT


def find_oldest_view() -> datetime | None:
    """When the oldest view arrived that is in no file, to the hour. None if there is none, or it is not known."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT MIN((SELECT received FROM analytics_pageview AS seen WHERE seen.project_id = project.id "
            "AND NOT seen.sample AND seen.id > COALESCE((SELECT MAX(last) FROM analytics_archivedrange AS archived "
            "WHERE archived.project_id = project.id AND kind = %s AND written_at IS NOT NULL), 0) "
            f"ORDER BY seen.id LIMIT 1)) FROM {Project._meta.db_table} AS project",
            [ArchivedRange.Kind.VIEWS],
        )
        (hour,) = cursor.fetchone()
    return EPOCH + timedelta(hours=hour) if hour is not None else None
