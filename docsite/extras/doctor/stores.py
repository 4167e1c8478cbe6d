"""The database and Redis."""

import os
import time
from contextlib import closing
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import load_backend

from docsite import database_settings
from docsite.core.components import Finding
from docsite.core.context import limit_database_time
from docsite.core.db import list_missing_migrations
from docsite.core.logs import describe
from docsite.core.redis_servers import clients

SECONDS = 5.0
MAX_CLOCK_SECONDS = 2.0  # between this host and a server
POOL_FILE = "/etc/docs-service/environment.pool"
POOL_VARIABLE = "POOL_DATABASE_URL"  # from `docs-service` in docsite/deploy, since only root can read the file


def check_database() -> Finding:
    """Whether the database answers, can be written, and has the tables of this release."""
    try:
        with limit_database_time(SECONDS), connection.cursor() as cursor:
            name = _describe_server(cursor)
            pending = len(list_missing_migrations())
            if not pending:
                cursor.execute("UPDATE projects_counter SET value = value WHERE key = %s", ["no such key"])
    except DatabaseError as failure:
        return Finding("Database", describe(failure), "Look at DATABASE_URL, the server's log and its disk.")
    if pending:
        return Finding("Database", f"{name} lacks {pending} migrations", "Run: manage.py migrate")
    return Finding("Database", f"{name} answers and can be written")


def check_connections() -> Finding | None:
    """Whether PostgreSQL has enough connections, and the same time as this host. None with SQLite."""
    if connection.vendor != "postgresql":
        return None
    with limit_database_time(SECONDS), connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('max_connections')::int, (SELECT count(*) FROM pg_stat_activity), "
            "extract(epoch FROM clock_timestamp())::float"
        )
        allowed, used, clock = cursor.fetchone()
    each = settings.ENV.database_connections
    fact = f"{used} of {allowed} connections of the server are in use; a process takes at most {each}"
    if abs(clock - time.time()) > MAX_CLOCK_SECONDS:
        advice = "Synchronize the clocks: leases of background work depend on them."
        return Finding("Connections", f"the server's clock differs by {clock - time.time():.0f} seconds", advice)
    if allowed - used < each:
        advice = "Raise max_connections of PostgreSQL, lower DATABASE_CONNECTIONS, or use PgBouncer."
        return Finding("Connections", fact, advice)
    return Finding("Connections", fact)


def check_pool() -> Finding | None:
    """Whether the units' own address leads to the database of the commands. None if they have none."""
    if not (url := os.environ.get(POOL_VARIABLE, "")):
        return None
    own = _identify(connection)
    try:
        described = {**connections.settings, "pool": database_settings.describe(url, settings.DATA_DIR)}
        database = connections.configure_settings(described)["pool"]
        is_same = _identify(load_backend(database["ENGINE"]).DatabaseWrapper(database, "pool")) == own
    except (DatabaseError, ValueError) as failure:
        advice = (
            f"Look at DATABASE_URL in {POOL_FILE} and at PgBouncer, or delete that file, and restart the processes."
        )
        return Finding("Pool", f"the processes' way to the database fails: {describe(failure)}", advice)
    if is_same:
        return Finding("Pool", "processes and commands use the same database")
    advice = (
        f"Name the database of `environment` in {POOL_FILE} and pgbouncer.ini, or delete that file; "
        "then restart PgBouncer and the processes."
    )
    return Finding("Pool", "the processes use another database than the commands do, backups included", advice)


def check_redis() -> Finding:
    """Whether Redis answers, if it is set."""
    if not settings.ENV.redis_url:
        return Finding("Redis", "not set; the database counts the limits, which is right for one process")
    try:
        with clients.connect(settings.ENV.redis_url, socket_connect_timeout=SECONDS, socket_timeout=SECONDS) as redis:
            redis.ping()
    except (*clients.ERRORS, OSError, ValueError) as failure:
        return Finding("Redis", describe(failure), "Look at REDIS_URL and the server: without it questions get 503.")
    return Finding("Redis", "it answers")


def _identify(database: BaseDatabaseWrapper) -> tuple[Any, ...]:
    """What differs between any two databases."""
    if database.vendor != "postgresql":
        return (database.vendor, str(database.settings_dict["NAME"]))
    with limit_database_time(SECONDS), closing(database), database.cursor() as cursor:
        cursor.execute(
            "SELECT system_identifier, oid, datname FROM pg_control_system(), pg_database "
            "WHERE datname = current_database()"
        )
        return tuple(cursor.fetchone())


def _describe_server(cursor: Any) -> str:
    cursor.execute("SELECT sqlite_version()" if connection.vendor == "sqlite" else "SHOW server_version")
    name = f"{connection.display_name} {cursor.fetchone()[0]}"
    if "," not in str(connection.settings_dict["HOST"]):
        return name
    return f"{name} at {connection.connection.info.host}:{connection.connection.info.port}"  # one of several servers
