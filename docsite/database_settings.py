"""Django's settings of a database, from its address."""

import re
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
    "PRAGMA journal_size_limit=67108864; "  # bytes: after a sweep the log gives its space back
    "PRAGMA secure_delete=ON",  # what is erased is overwritten; FAST would leave it in pages that become free
}

FORM = "write postgres://user:password@host/name or sqlite:///path"
SERVER_KINDS = ("any", "primary", "read-write")  # as libpq calls those that may be written
CONNECT_SECONDS = 2  # to each of several servers: the least that libpq takes, so that two fit into DATABASE_SECONDS
_ADDRESS = re.compile(r"(?P<scheme>[a-z]+://)(?P<user>[^/?#]*@)?(?P<hosts>[^/?#]*)(?P<rest>.*)", re.DOTALL)
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^:\[\]\s]+)(?::(?P<port>[0-9]{1,5}))?")


def describe(url: str, file: Path) -> dict[str, Any]:
    """The settings for an address. Without one it is SQLite in the file.

    An address may name several PostgreSQL servers, `postgres://user:password@host:5432,host:5433/name`. They become
    lists in HOST and PORT, as libpq takes them, which looks for the one that can be written, unless the address says
    another kind (`target_session_attrs`). Raises ValueError with a sentence for an address that cannot be understood.
    """
    database: dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3", "NAME": file}
    if url:
        database = _parse(url)
    database |= {"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True}
    if database["ENGINE"] == "django.db.backends.postgresql":
        database["ENGINE"] = "docsite.core.postgresql"
        _look_for_primary(database)
    else:
        database["OPTIONS"] = _SQLITE_OPTIONS
    return database


def _parse(url: str) -> dict[str, Any]:
    if not url.startswith(("postgres://", "postgresql://", "sqlite://")):
        raise ValueError(FORM)
    parts = _ADDRESS.fullmatch(url)
    is_list = parts is not None and "," in parts["hosts"]
    try:
        alone = f"{parts['scheme']}{parts['user'] or ''}{parts['rest']}" if parts and is_list else url
        database = dict(dj_database_url.parse(alone))
    except ValueError:
        raise ValueError(
            f"{FORM}; the port is a number, and special characters of a password are written as %40 and so on"
        ) from None
    if parts and is_list:
        servers = [_HOST.fullmatch(host) for host in parts["hosts"].split(",")]
        if any(server is None or int(server["port"] or 1) not in range(1, 65536) for server in servers):
            raise ValueError("write several servers as host:5432,host:5432")
        database["HOST"] = ",".join(server["name"].strip("[]") for server in servers if server)
        database["PORT"] = ",".join(server["port"] or "5432" for server in servers if server)
    return database


def _look_for_primary(database: dict[str, Any]) -> None:
    """Say which of several servers to use. Theirs may also be the parameters `host` and `port` of the address."""
    options = database.setdefault("OPTIONS", {})
    for name in ("host", "port"):
        if name in options:
            database[name.upper()] = str(options.pop(name))
    hosts, ports = (str(database[name]).split(",") for name in ("HOST", "PORT"))
    if len(ports) not in (1, len(hosts)):
        raise ValueError("name one port, or one for each host")
    if len(hosts) > 1:
        options.setdefault("target_session_attrs", "read-write")
        options.setdefault("connect_timeout", CONNECT_SECONDS)
    if options.get("target_session_attrs", "any") not in SERVER_KINDS:
        raise ValueError(f"target_session_attrs is one of {', '.join(SERVER_KINDS)}")
