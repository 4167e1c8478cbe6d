"""Copies a PostgreSQL database with its own programs `pg_dump` and `pg_restore`."""

import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient

from docsite.extras.database_copy.rows import BackupError, compare, count_rows

FILE = "database.dump"
_PACKAGE = "Install the package postgresql-client in the version of the server, or a later one."


def save(file: Path) -> dict[str, int]:
    """Write a dump and check it. Returns the number of rows of each table."""
    holder = connection.copy()  # its transaction keeps the state that is counted and dumped
    try:
        holder.set_autocommit(False)
        with holder.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            (snapshot,) = cursor.fetchone()
            counts = _count(cursor)
            options = ("--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}", f"--file={file}")
            _run("pg_dump", *options)
    finally:
        holder.close()
    compare(counts, _count_dump(file))
    return counts


def load(file: Path) -> dict[str, int]:
    """Fill the empty database from a dump, all or nothing. Returns the number of rows of each table."""
    connection.close()
    options = ("--no-owner", "--no-privileges", "--no-comments", "--exit-on-error", "--single-transaction")
    _run("pg_restore", *options, str(file))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # a dump has no statistics, without which queries are slow
        return _count(cursor)


def is_empty() -> bool:
    """Whether the database has no tables."""
    with connection.cursor() as cursor:
        return not _count(cursor)


def _count(cursor: Any) -> dict[str, int]:
    cursor.execute(  # partitions, not what they are parts of
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
    )
    return count_rows(cursor, [name for (name,) in cursor.fetchall()])


def _count_dump(file: Path) -> dict[str, int]:
    """The number of rows of each table of a dump, which is read to its end."""
    counts: Counter[str] = Counter()
    table = ""
    reader = _start(["pg_restore", "--data-only", "--file=-", str(file)], os.environ)
    with reader:
        for line in reader.stdout or ():
            if table:
                if line == b"\\.\n":
                    table = ""
                else:
                    counts[table] += 1
            elif line.startswith(b"COPY "):
                table = line.split()[1].decode().rpartition(".")[2].strip('"')
                counts[table] = 0
        error = reader.stderr.read().decode() if reader.stderr else ""
    if reader.returncode:
        raise BackupError(f"The dump cannot be read: {_first_line(error)}")
    return dict(counts)


def _run(program: str, *options: str) -> None:
    """Run a program on the database of the settings. The password is in its environment, where others do not see it."""
    (_, *connect, name), environment = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    variables = {**os.environ, **(environment or {})}
    if kind := connection.settings_dict["OPTIONS"].get("target_session_attrs"):
        variables["PGTARGETSESSIONATTRS"] = kind  # the server of several that the connection chose
    process = _start([program, *connect, f"--dbname={name}", *options], variables)
    _, error = process.communicate()
    if process.returncode:
        raise BackupError(f"{program} failed: {_first_line(error.decode())}")


def _start(command: list[str], environment: Any) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        raise BackupError(f"{command[0]} is not installed. {_PACKAGE}") from None


def _first_line(error: str) -> str:
    hint = f" {_PACKAGE}" if "version mismatch" in error else ""
    return (error.strip().splitlines() or ["no reason was given."])[0] + hint
