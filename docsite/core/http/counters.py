"""Exact counters over one SQL table, for rate limits where no Redis is configured.

Django's own database cache reads, adds one and writes back, so two processes
can count one request. Here every step is one SQL statement.
"""

import time
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import connection, transaction

from docsite.core import sql

MAX_REMEMBERED = 10_000

_running: dict[str, float] = {}  # when the windows end of counters that this process has seen; the same in all threads


class CounterCache(BaseCache):
    """The part of a Django cache that django-ratelimit uses: `add`, `incr` and `get` of integers."""

    def __init__(self, table: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self.table = connection.ops.quote_name(table)

    def add(self, key: str, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Set the counter unless one is running. Returns whether it was set."""
        now, name = time.time(), self.make_key(key, version)
        if _running.get(name, 0) >= now:
            return False  # the usual case needs no query
        query = f"SELECT expires_at FROM {self.table} WHERE key = %s AND expires_at >= %s"
        if (row := sql.fetch_one(query, [name, now])) is not None:
            _remember(name, row[0])
            return False
        until = now + (timeout if isinstance(timeout, int | float) else float(self.default_timeout or 300))
        with transaction.atomic():
            added = sql.execute(
                f"INSERT INTO {self.table} (key, value, expires_at) VALUES (%s, %s, %s) "
                "ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at "
                f"WHERE {self.table}.expires_at < %s",
                [name, int(value), until, now],
            )
            if added == 1:  # a new window is rare, so this is the moment to delete old ones
                sql.execute(f"DELETE FROM {self.table} WHERE expires_at < %s", [now])
        if added == 1:
            _remember(name, until)
        return added == 1

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Add to a running counter and return it. Raises ValueError when there is none.

        A counter that was deleted within its window begins again, as when a backup is restored.
        """
        now, name = time.time(), self.make_key(key, version)
        add = f"UPDATE {self.table} SET value = value + %s WHERE key = %s AND expires_at >= %s RETURNING value"
        row = sql.fetch_one(add, [delta, name, now])
        until = 0.0 if row else _running.pop(name, 0.0)
        if until >= now:
            row = sql.fetch_one(
                f"INSERT INTO {self.table} (key, value, expires_at) VALUES (%s, %s, %s) "
                f"ON CONFLICT (key) DO UPDATE SET value = {self.table}.value + excluded.value RETURNING value",
                [name, delta, until],
            )
        if row is None:
            raise ValueError(f"no counter {key}")
        return int(row[0])

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        """The counter, or the default."""
        query = f"SELECT value FROM {self.table} WHERE key = %s AND expires_at >= %s"
        row = sql.fetch_one(query, [self.make_key(key, version), time.time()])
        return default if row is None else int(row[0])


def _remember(name: str, until: float) -> None:
    if len(_running) >= MAX_REMEMBERED:
        _running.clear()
    _running[name] = until
