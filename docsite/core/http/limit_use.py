"""How much of each limit was used, by the hour: for the owner's page. No address is stored.

Each process adds up in memory and writes a few seconds later, so that no request waits. One row holds the most that
one caller has used of a limit in an hour, and the number of refusals. `docsite.core.tenants.models.LimitUse` is the
table, which is written here in plain SQL.
"""

import threading
import time
from dataclasses import dataclass

from django.db import connection, transaction

from docsite.core import sql
from docsite.core.group_commit import GroupCommit

STORED_HOURS = 8 * 24
WRITE_SECONDS = 5.0
HOUR = 3600
SERVICE = 0  # in place of an organization, where a request belongs to none

_Key = tuple[str, int, int]  # limit, organization, hour since 1970


@dataclass
class _Use:
    most: int = 0
    refused: int = 0


_uses: dict[_Key, _Use] = {}
_lock = threading.Lock()


def note(limit: str, organization: int, used: int, *, refused: bool) -> None:
    """Note what a caller has used of a limit with this request. It does not block."""
    key = (limit, organization, int(time.time()) // HOUR)
    with _lock:
        is_first = not _uses
        use = _uses.setdefault(key, _Use())
        use.most = max(use.most, used)
        use.refused += refused
    if is_first:
        _writes.submit(None)


def _store(writes: list[None]) -> list[None]:
    global _uses
    with _lock:
        uses, _uses = _uses, {}
    table = connection.ops.quote_name("projects_limituse")
    with transaction.atomic():
        for (limit, organization, hour), use in sorted(uses.items()):  # in one order, so that processes cannot deadlock
            sql.execute(
                f"INSERT INTO {table} (limit_name, organization_id, hour, most, refused) VALUES (%s, %s, %s, %s, %s) "
                "ON CONFLICT (limit_name, organization_id, hour) DO UPDATE SET "
                f"most = CASE WHEN excluded.most > {table}.most THEN excluded.most ELSE {table}.most END, "
                f"refused = {table}.refused + excluded.refused",
                [limit, organization, hour, use.most, use.refused],
            )
        sql.execute(f"DELETE FROM {table} WHERE hour < %s", [int(time.time()) // HOUR - STORED_HOURS])
    return writes


_writes = GroupCommit(
    "uses of limits", _store, delay=WRITE_SECONDS, min_group_weight=100, max_group_weight=100, capacity=1_000
)
flush = _writes.flush  # stores what was noted, in this thread
