"""Django's settings of a database, from its address."""

from pathlib import Path
from typing import Any

import dj_database_url

# IMMEDIATE: a transaction takes the write lock when it begins, so two writers
# wait for each other instead of failing half-way. NORMAL: a commit survives
# kill -9; only a power cut may take back the last ones.
_SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 10,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000; "
    "PRAGMA wal_autocheckpoint=4000; "  # pages: with more, a busy page is written back less often
    "PRAGMA journal_size_limit=67108864",  # bytes: after a sweep the log gives its space back
}


def describe(url: str, file: Path) -> dict[str, Any]:
    """The settings for an address. Without one it is SQLite in the file."""
    database: dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3", "NAME": file}
    if url:
        database = dict(dj_database_url.parse(url))
    database |= {"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True}
    if database["ENGINE"] == "django.db.backends.postgresql":
        database["ENGINE"] = "docsite.core.postgresql"
    else:
        database["OPTIONS"] = _SQLITE_OPTIONS
    return database
