"""Triggers that refuse what would write rows of an organization, whatever process it is.

They stand on the tables of the organization while it moves, and while it lives elsewhere. PostgreSQL waits for the
transactions that write a table before it gets a trigger, so what was committed before is complete.
"""

import time
from collections.abc import Callable, Iterable
from functools import partial

from django.db import OperationalError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model

from docsite.core.postgresql.sqlstate import LOCK_NOT_AVAILABLE, find_sqlstate
from docsite.core.tenants.frozen import FENCE
from docsite.core.tenants.models import ApiKey, Organization, Project
from docsite.server.placement import tables
from docsite.server.placement.deployments import PlacementError

INSERT, UPDATE, DELETE = "insert", "update", "delete"
LOCK_MILLISECONDS = 200  # others who write the table wait behind one who waits for it
RETRY_SECONDS = 0.3
LOCK_SECONDS = 120.0
_ALLOWED: dict[type[Model], str] = {ApiKey: "last_used_at"}  # a column that reads write; what is written late is lost
_SQLSTATE = "23514"  # check_violation: Django's IntegrityError, as of RAISE in SQLite


def list_models() -> list[type[Model]]:
    """The models whose tables are fenced."""
    return [
        model
        for model in tables.find_paths()
        if model is not Organization and model._meta.label not in tables.WRITTEN_BY_READS
    ]


def build(organization_id: int, models: Iterable[type[Model]], *kinds: str) -> None:
    """Refuse to write rows of these tables from now on; with `kinds`, only by such statements.

    Triggers that stand are left as they are, so fence new projects before other tables. Raises `PlacementError`.
    """
    projects = list(Project.objects.filter(organization=organization_id).values_list("pk", flat=True))
    for model in models:
        _run_with_lock(model, partial(_build_table, organization_id, projects, model, kinds))


def remove(organization_id: int, models: Iterable[type[Model]], *kinds: str, database: str = "default") -> None:
    """Let these tables be written again; with `kinds`, only by such statements."""
    for model in models:
        _run_with_lock(model, partial(_drop, organization_id, model, kinds, database), database)


def _run_with_lock(model: type[Model], change: Callable[[], None], database: str = "default") -> None:
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            with transaction.atomic(using=database):
                _execute(database, _lock_statement(database))
                change()
            return
        except OperationalError as failure:
            if find_sqlstate(failure) != LOCK_NOT_AVAILABLE:
                raise
            if time.monotonic() > until:
                raise PlacementError(f"The table {model._meta.db_table} is in use for too long.") from None
            time.sleep(RETRY_SECONDS)


def _lock_statement(database: str) -> str:
    return f"SET LOCAL lock_timeout = {LOCK_MILLISECONDS}" if _is_postgresql(database) else "SELECT 1"


def _build_table(organization_id: int, projects: list[int], model: type[Model], kinds: tuple[str, ...]) -> None:
    field, parent = tables.find_owner(model)
    is_owned_directly = parent in (Organization, Project)
    owners = [organization_id] if parent is Organization else projects
    listed = ", ".join(map(str, owners)) or "NULL"
    if is_owned_directly:
        condition = f"{{row}}.{field.column} IN ({listed})"
    else:
        above, _ = tables.find_owner(parent)
        condition = (
            f"EXISTS (SELECT 1 FROM {parent._meta.db_table} AS owner WHERE owner.id = {{row}}.{field.column} "
            f"AND owner.{above.column} IN ({listed}))"
        )
    for kind, rows in ((INSERT, ("NEW",)), (UPDATE, ("OLD", "NEW")), (DELETE, ("OLD",))):
        name = _name(organization_id, model, kind)
        if (kinds and kind not in kinds) or _exists(name, "default"):
            continue
        when = " OR ".join(condition.format(row=row) for row in rows)
        _create(name, kind, model, when, is_simple=is_owned_directly)


def _create(name: str, kind: str, model: type[Model], when: str, *, is_simple: bool) -> None:
    table, event = model._meta.db_table, kind.upper()
    if kind == UPDATE and (allowed := _ALLOWED.get(model)):
        columns = [field.column for field in model._meta.concrete_fields if field.column != allowed]
        event = f"UPDATE OF {', '.join(columns)}"
    if not _is_postgresql("default"):
        refuse = f"SELECT RAISE(ABORT, '{FENCE}');"
        _execute("default", f"CREATE TRIGGER {name} BEFORE {event} ON {table} WHEN {when} BEGIN {refuse} END")
        return
    refuse = f"RAISE EXCEPTION '{FENCE}' USING ERRCODE = '{_SQLSTATE}';"
    row = "OLD" if kind == DELETE else "NEW"
    body = refuse if is_simple else f"IF {when} THEN {refuse} END IF;"
    code = f"BEGIN {body} RETURN {row}; END"
    _execute("default", f"CREATE FUNCTION {name}() RETURNS trigger AS $$ {code} $$ LANGUAGE plpgsql")
    condition = f"WHEN ({when})" if is_simple else ""  # cheap for the rows of others
    _execute(
        "default", f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW {condition} EXECUTE FUNCTION {name}()"
    )


def _drop(organization_id: int, model: type[Model], kinds: tuple[str, ...], database: str) -> None:
    for kind in kinds or (INSERT, UPDATE, DELETE):
        name = _name(organization_id, model, kind)
        if not _exists(name, database):
            continue  # PostgreSQL would let readers wait, too
        if _is_postgresql(database):
            _execute(database, f"DROP TRIGGER {name} ON {model._meta.db_table}")
            _execute(database, f"DROP FUNCTION {name}()")
        else:
            _execute(database, f"DROP TRIGGER {name}")


def _exists(name: str, database: str) -> bool:
    catalogue = (
        "pg_trigger WHERE tgname" if _is_postgresql(database) else "sqlite_master WHERE type = 'trigger' AND name"
    )
    with _open(database).cursor() as cursor:
        cursor.execute(f"SELECT 1 FROM {catalogue} = %s", [name])
        return cursor.fetchone() is not None


def _name(organization_id: int, model: type[Model], kind: str) -> str:
    return f"frozen_{organization_id}_{model._meta.db_table}_{kind}"


def _is_postgresql(database: str) -> bool:
    return _open(database).vendor == "postgresql"


def _open(database: str) -> BaseDatabaseWrapper:
    return connections[database]


def _execute(database: str, statement: str) -> None:
    with _open(database).cursor() as cursor:
        cursor.execute(statement)
