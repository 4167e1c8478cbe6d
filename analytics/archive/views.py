"""Views for the archive. Without those of the sample: they were invented, and can be removed."""

from datetime import timedelta

import pyarrow as pa
from django.db import connection

from analytics.archive.folder import Table
from analytics.archive.waiting import Waiting
from analytics.counting import unsealed
from analytics.models import EPOCH, ArchivedRange

MAX_ROWS = 50_000  # of a file; one range is in memory at a time

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("seen_at", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("path", pa.string()),
        pa.field("class", pa.string(), nullable=False),
        pa.field("surface", pa.string(), nullable=False),
        pa.field("visitor", pa.int64(), nullable=False),
        pa.field("agent", pa.string()),
        pa.field("operator", pa.string()),
        pa.field("verified", pa.string()),
        pa.field("rule", pa.string(), nullable=False),
        pa.field("rules_version", pa.int16(), nullable=False),
        pa.field("referrer", pa.string()),
        pa.field("user_agent", pa.string()),
        *(
            pa.field(name, pa.string())
            for name in (
                *("channel", "source", "utm_source", "utm_medium", "utm_campaign"),
                *("device", "browser", "language"),
            )
        ),
    ]
)

_RANGE = "FROM analytics_pageview AS seen WHERE seen.project_id = %s AND seen.id BETWEEN %s AND %s AND NOT seen.sample"
_ROWS = (
    "SELECT seen.id, seen.at, page.path, seen.client_class, seen.surface, seen.visitor, NULLIF(seen.agent, ''), "
    "NULLIF(seen.operator, ''), NULLIF(seen.verified, ''), seen.rule, seen.rules_version, NULLIF(seen.referrer, ''), "
    "NULLIF(seen.user_agent, ''), NULLIF(channel, ''), NULLIF(source, ''), NULLIF(utm_source, ''), "
    "NULLIF(utm_medium, ''), NULLIF(utm_campaign, ''), NULLIF(device, ''), NULLIF(browser, ''), NULLIF(language, '') "
    "FROM analytics_pageview AS seen "
    "LEFT JOIN analytics_page AS page ON page.project_id = seen.project_id AND page.number = seen.page "
    "LEFT JOIN analytics_audience AS audience "
    "ON audience.project_id = seen.project_id AND audience.number = seen.audience "
    "WHERE seen.project_id = %s AND seen.id BETWEEN %s AND %s AND NOT seen.sample ORDER BY seen.id"
)
_HIGHEST = (1 << 63) - 1


def find_settled(project_id: int) -> int:
    """An id up to which no view can be committed any more."""
    return unsealed.newest_view_id(project_id)


def find_waiting(project_id: int, latest: ArchivedRange | None, up_to: int = _HIGHEST) -> Waiting | None:
    """The next views after a range, up to an id. Others may still be committed between them: see `find_settled`."""
    first = latest.last + 1 if latest else 1
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*), MAX(id), MIN(received), MAX(received) FROM "
            f"(SELECT seen.id, seen.received {_RANGE} ORDER BY seen.id LIMIT %s) AS waiting",
            [project_id, first, up_to, MAX_ROWS],
        )
        rows, last, oldest, newest = cursor.fetchone()
    if not rows:
        return None
    return Waiting(
        rows, last, EPOCH + timedelta(hours=oldest), EPOCH + timedelta(hours=newest), is_full=rows >= MAX_ROWS
    )


def read(project_id: int, first: int, last: int) -> Table:
    """The views of a range as they are now."""
    with connection.cursor() as cursor:
        cursor.execute(_ROWS, [project_id, first, last])
        columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(SCHEMA)
    return pa.table([pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)], SCHEMA)
