"""The database that gets the data. A table in it, written in the same transactions, says how far the move is."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model

from docsite import database_settings
from docsite.core.tenants.management.base import MOVE_PROGRESS as PROGRESS
from docsite.server.backup.rows import BackupError

ALIAS = "target"
_STATE = "state of the source"
CHANGED = "The database was written since the move began. Empty the new one, and begin again."


def connect(url: str) -> BaseDatabaseWrapper:
    """The new database, as Django's connection `target`.

    Raises `BackupError` if its file cannot be made, or if it is the database that the service uses.
    """
    described = database_settings.describe(url, Path())
    if described["ENGINE"] == "django.db.backends.sqlite3" and not (file := Path(described["NAME"])).exists():
        try:
            file.touch(mode=0o600)  # SQLite would let others read it
        except OSError as failure:
            raise BackupError(f"The new database {file} cannot be made: {failure.strerror}.") from None
    connections.settings[ALIAS] = connections.configure_settings({**connections.settings, ALIAS: described})[ALIAS]
    if _identify(connections[ALIAS]) == _identify(connections[DEFAULT_DB_ALIAS]):
        raise BackupError("This is the database that the service uses. Name another one.")
    return connections[ALIAS]


def _identify(database: BaseDatabaseWrapper) -> list[str]:
    return [str(database.settings_dict[name]) for name in ("ENGINE", "HOST", "PORT", "NAME")]


def has_begun(target: BaseDatabaseWrapper) -> bool:
    """Whether a move to it was interrupted. Raises `BackupError` when it has other data."""
    tables = target.introspection.table_names()
    if PROGRESS in tables:
        return True
    with target.cursor() as cursor:
        for table in ("auth_user", "projects_organization"):
            if table in tables:
                cursor.execute(f"SELECT 1 FROM {table} LIMIT 1")
                if cursor.fetchone():
                    raise BackupError("The new database has data. Name an empty one.")
    if tables and "django_migrations" not in tables:
        raise BackupError("The new database has tables of something else. Name an empty one.")
    return False


def migrate(url: str) -> None:
    """Make the tables. In a process of its own, as migrations may use the database of the settings."""
    environment = {**os.environ, "DATABASE_URL": url, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "django", "migrate", "--verbosity=0"]
    if subprocess.run(command, env=environment).returncode:
        raise BackupError("The tables could not be made in the new database.")


def begin(target: BaseDatabaseWrapper, models: list[type[Model]], state: str) -> None:
    """Note the state of the source, and remove the few rows that migrations have made."""
    with transaction.atomic(using=ALIAS), target.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {PROGRESS} (name varchar(100) PRIMARY KEY, value text NOT NULL)")
        cursor.execute(f"INSERT INTO {PROGRESS} (name, value) VALUES (%s, %s)", [_STATE, state])
        for model in reversed(models):
            if model._base_manager.using(ALIAS).exists():
                cursor.execute(f"DELETE FROM {target.ops.quote_name(model._meta.db_table)}")


def check_state(target: BaseDatabaseWrapper, state: str) -> None:
    """Raise `BackupError` if the source was written since the move began."""
    if _load(target, _STATE) != state:
        raise BackupError(CHANGED)


def load_progress(target: BaseDatabaseWrapper, table: str) -> dict[str, Any]:
    """How far a table is copied: `key` of the last row, number of `rows`, whether it is `done`."""
    text = _load(target, table)
    return json.loads(text) if text else {"key": None, "rows": 0, "done": False}


def save_progress(target: BaseDatabaseWrapper, table: str, progress: dict[str, Any]) -> None:
    """Store it. Call it in the transaction of the rows."""
    with target.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {PROGRESS} (name, value) VALUES (%s, %s) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [table, json.dumps(progress, cls=DjangoJSONEncoder)],
        )


def finish(target: BaseDatabaseWrapper, store_id_counters: Callable[[], None]) -> None:
    """Set the counters for new ids and forget the progress."""
    with transaction.atomic(using=ALIAS), target.cursor() as cursor:
        store_id_counters()
        cursor.execute(f"DROP TABLE {PROGRESS}")
    with target.cursor() as cursor:
        cursor.execute("ANALYZE")  # without statistics queries are slow


def _load(target: BaseDatabaseWrapper, name: str) -> str | None:
    with target.cursor() as cursor:
        cursor.execute(f"SELECT value FROM {PROGRESS} WHERE name = %s", [name])
        row = cursor.fetchone()
        return str(row[0]) if row else None
