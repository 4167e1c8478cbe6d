"""The database that gets the data."""

import os
import subprocess
import sys
from pathlib import Path

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model

from docsite import database_settings
from docsite.extras.database_copy.rows import BackupError

ALIAS = "target"


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


def check_empty(target: BaseDatabaseWrapper) -> None:
    """Raise `BackupError` if the database has data, or tables of something else."""
    tables = target.introspection.table_names()
    with target.cursor() as cursor:
        for table in ("auth_user", "projects_organization"):
            if table in tables:
                cursor.execute(f"SELECT 1 FROM {table} LIMIT 1")
                if cursor.fetchone():
                    raise BackupError("The new database has data. Name an empty one.")
    if tables and "django_migrations" not in tables:
        raise BackupError("The new database has tables of something else. Name an empty one.")


def migrate(url: str) -> None:
    """Make the tables. In a process of its own, as migrations may use the database of the settings."""
    environment = {**os.environ, "DATABASE_URL": url, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "django", "migrate", "--verbosity=0"]
    if subprocess.run(command, env=environment).returncode:
        raise BackupError("The tables could not be made in the new database.")


def clear(target: BaseDatabaseWrapper, models: list[type[Model]]) -> None:
    """Remove the few rows that migrations have made, and let each statement check its foreign keys from now on.

    PostgreSQL would remember every row until the end of the transaction, to check it then.
    """
    with target.cursor() as cursor:
        for model in reversed(models):
            if model._base_manager.using(ALIAS).exists():
                cursor.execute(f"DELETE FROM {target.ops.quote_name(model._meta.db_table)}")
        if target.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
