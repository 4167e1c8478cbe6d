"""Moves all data to another database."""

from collections.abc import Callable

from django.apps import apps
from django.db import DatabaseError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model

from analytics.counting import partitions
from docsite.core.db import snapshot
from docsite.extras.database_copy.move import copying, id_counters, source, target
from docsite.extras.database_copy.rows import BackupError, compare, count_rows

Report = Callable[[str, int, int], None]  # table, rows copied, rows in all


def move(url: str, record: Callable[[], None], report: Report) -> dict[str, int]:
    """Move all rows, count them on both sides, and return the numbers by table. Raises `BackupError`.

    It is one transaction: after an interruption the new database is as empty as before. `record` is called before the
    first row is moved, and may write.
    """
    try:
        new = target.connect(url)
        target.check_empty(new)
    except DatabaseError as failure:
        raise BackupError(f"The new database cannot be used: {' '.join(str(failure).split())}") from None
    target.migrate(url)
    record()
    models = list_models()
    with transaction.atomic(using=target.ALIAS), source.hold(), snapshot():
        target.clear(new, models)
        counts, last = _count(connection, models), id_counters.load(models)
        id_counters.store(new, models, last)
        partitions.extend(new)  # for the views that are copied
        for model in models:
            table = model._meta.db_table
            copying.copy(model, new, lambda rows, table=table: report(table, rows, counts[table]))  # type: ignore[misc]
        compare(counts, _count(new, models))
        id_counters.store(new, models, last)
    with new.cursor() as cursor:
        cursor.execute("ANALYZE")  # without statistics queries are slow
    return counts


def list_models() -> list[type[Model]]:
    """All models with tables; those that rows refer to come first."""
    left = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    found: list[type[Model]] = []
    while left:
        model = next(model for model in left if not _references(model) & set(left) - {model})
        left.remove(model)
        found.append(model)
    return found


def _references(model: type[Model]) -> set[type[Model]]:
    return {field.related_model for field in model._meta.concrete_fields if isinstance(field.related_model, type)}


def _count(database: BaseDatabaseWrapper, models: list[type[Model]]) -> dict[str, int]:
    with database.cursor() as cursor:
        return count_rows(cursor, [model._meta.db_table for model in models])
