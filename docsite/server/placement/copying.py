"""Carries the rows of an organization to the other database, in steps that can be resumed, and counts them."""

from collections.abc import Callable
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DataError, IntegrityError, connections, transaction
from django.db.models import BinaryField, Count, Max, Model, QuerySet, Sum

from analytics.models import PageView
from docsite.core.tenants.models import MoveProgress, Organization, Project
from docsite.server.move.copying import count_rows, insert
from docsite.server.move.target import ALIAS
from docsite.server.placement import tables
from docsite.server.placement.deployments import PlacementError

Report = Callable[[str, int], None]  # table, rows copied


class Copying:
    """The copy of one organization. `users` maps the ids of users to those in the other database."""

    def __init__(self, organization_id: int, users: dict[int, int], report: Report) -> None:
        self.organization_id = organization_id
        self.users = users
        self.report = report

    def copy(self, model: type[Model], up_to: int | None = None) -> None:
        """Copy the rows that are not there yet, by primary key. `up_to`: the last id, where more may follow later."""
        fields = list(model._meta.concrete_fields)
        names = [field.attname for field in fields]
        keys = [field.attname for field in getattr(model._meta, "pk_fields", None) or [model._meta.pk]]
        key_fields = [fields[names.index(name)] for name in keys]
        people = [names.index(field.attname) for field in tables.list_user_fields(model)]
        binary = [field.attname for field in fields if isinstance(field, BinaryField)]
        progress = self._load(model)
        every = select(model, self.organization_id).order_by(*keys).values_list(*names)
        if up_to is not None:
            every = every.filter(pk__lte=up_to)
        while True:
            rows = every
            if progress["key"] is not None:
                key = [field.to_python(part) for field, part in zip(key_fields, progress["key"], strict=True)]
                rows = rows.filter(pk__gt=tuple(key) if len(key) > 1 else key[0])
            size = count_rows(rows, binary)
            step = [list(row) for row in rows[:size]]
            if not step:
                return
            for row in step:
                for place in people:
                    row[place] = self.users.get(row[place])
            last = dict(zip(names, step[-1], strict=True))
            progress = {"key": [last[name] for name in keys], "rows": progress["rows"] + len(step)}
            self._store(model, fields, step, progress)
            self.report(model._meta.db_table, progress["rows"])
            if len(step) < size:
                return

    def _store(self, model: type[Model], fields: Any, rows: Any, progress: dict[str, Any]) -> None:
        try:
            with transaction.atomic(using=ALIAS):
                insert(connections[ALIAS], model._meta.db_table, fields, rows)
                MoveProgress.objects.using(ALIAS).update_or_create(name=self._name(model), defaults={"value": progress})
        except (DataError, IntegrityError, ValueError) as failure:
            reason = str(failure).partition("\n")[0]
            raise PlacementError(f"A row of {model._meta.db_table} cannot be stored there: {reason}") from None

    def _load(self, model: type[Model]) -> dict[str, Any]:
        row = MoveProgress.objects.using(ALIAS).filter(name=self._name(model)).first()
        return dict(row.value) if row else {"key": None, "rows": 0}

    def _name(self, model: type[Model]) -> str:
        return f"{self.organization_id}:{model._meta.db_table}"

    def mend(self, model: type[Model]) -> None:
        """Copy a table again if rows that were copied before the fence were changed or deleted since then."""
        if describe(model, self.organization_id) != describe(model, self.organization_id, ALIAS):
            with transaction.atomic(using=ALIAS):
                delete(model, self.organization_id, ALIAS)
                MoveProgress.objects.using(ALIAS).filter(name=self._name(model)).delete()
            self.copy(model)

    def update_projects(self) -> None:
        """Bring the projects up to date, which were copied before the fence, so that views could refer to them."""
        with transaction.atomic(using=ALIAS):
            projects = list(Project.objects.filter(organization=self.organization_id))
            there = Project.objects.using(ALIAS).filter(organization=self.organization_id)
            there.exclude(pk__in=[project.pk for project in projects]).delete()
            for project in projects:
                project.save_base(raw=True, using=ALIAS)  # as it is


def select(model: type[Model], organization_id: int, alias: str = DEFAULT_DB_ALIAS) -> "QuerySet[Any, Any]":
    """The rows of an organization. The ids of its projects stand in the query, for which there are indexes."""
    path = tables.find_paths()[model]
    if path.endswith("project__organization"):
        ids = list(Project.objects.using(alias).filter(organization=organization_id).values_list("pk", flat=True))
        return model._base_manager.using(alias).filter(**{f"{path.removesuffix('__organization')}__in": ids})
    return tables.select_rows(model, organization_id, alias)


def describe(model: type[Model], organization_id: int, alias: str = DEFAULT_DB_ALIAS) -> tuple[Any, ...]:
    """What tells a copy from one that is not complete or older: number of rows; of views, also what changes in them."""
    rows = select(model, organization_id, alias)
    if model is PageView:
        return tuple(rows.aggregate(Count("pk"), Max("pk"), Sum("rules_version")).values())
    return (rows.count(),)


def compare(organization_id: int) -> int:
    """Raise `PlacementError` unless both databases have the same rows. Returns their number."""
    total = 0
    for model in tables.find_paths():
        here, there = describe(model, organization_id), describe(model, organization_id, ALIAS)
        if here != there and model._meta.label not in tables.WRITTEN_BY_READS:
            raise PlacementError(
                f"The copy is not complete: {model._meta.db_table} has {there[0]} rows instead of {here[0]}. "
                "Run the command with --cancel, and begin again."
            )
        total += here[0]
    return total


def delete(model: type[Model], organization_id: int, alias: str = DEFAULT_DB_ALIAS, batch: int = 5_000) -> None:
    """Delete the rows of an organization in one table, a batch at a time; those of a table with a joint key at once."""
    rows, pk = select(model, organization_id, alias), model._meta.pk
    if len(getattr(model._meta, "pk_fields", None) or [pk]) > 1:
        rows._raw_delete(alias)  # no signals: nothing is erased
        return
    while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:batch]):
        model._base_manager.using(alias).filter(pk__in=ids)._raw_delete(alias)


def delete_all(organization_id: int, alias: str = DEFAULT_DB_ALIAS) -> None:
    """Delete all rows that belong to an organization, except its own row and those of its projects."""
    for model in reversed(list(tables.find_paths())):
        if model not in (Organization, Project):
            delete(model, organization_id, alias)
