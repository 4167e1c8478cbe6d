"""An organization with rows in all its tables, and what a database has of it."""

import json
import sys
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime
from ipaddress import ip_address
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import models

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
PAGE = "# One\n\nMore than enough to be found.\n"


def view(domain: str, number: str = "3", first: str = "1") -> None:
    """Record views of different visitors."""
    from analytics.collecting import recording
    from analytics.collecting.recording import Observation
    from docsite.core.tenants.models import Project

    project = Project.objects.select_related("organization").get(domain=domain)
    recording.record(
        project,
        [
            Observation(uuid.uuid4().hex, "/one", datetime.now(UTC), ip_address(f"198.51.100.{visitor}"), CHROME)
            for visitor in range(int(first), int(first) + int(number))
        ],
    )


def fill(domain: str) -> None:
    """Put a row into each table that has none of the organization."""
    from docsite.core.tenants.models import Project
    from docsite.server.placement import tables

    project = Project.objects.get(domain=domain)
    for model in tables.find_paths():
        if not tables.select_rows(model, project.organization_id).exists():
            build_row(model, project).save(force_insert=True)


def build_row(model: type[models.Model], project: Any) -> models.Model:
    """A row of the organization of a project. Its references lead to other rows of the same one."""
    values: dict[str, Any] = {}
    for field in model._meta.concrete_fields:
        if isinstance(field, models.BigAutoField) or (field.has_default() and not field.related_model):
            continue
        values[field.attname] = _build_value(field, project)
    return model(**values)


def _build_value(field: Any, project: Any) -> Any:
    from docsite.core.tenants.models import Organization
    from docsite.server.placement import tables

    if (parent := field.related_model) is not None:
        if parent is get_user_model():
            return parent.objects.get_or_create(username=f"member of {project.domain}", email="m@moved.example")[0].pk
        if parent is Organization:
            return project.organization_id
        return tables.select_rows(parent, project.organization_id).values_list("pk", flat=True).first()
    if field.choices:
        return field.choices[0][0]
    for kind, value in (
        (models.JSONField, []),
        (models.DateTimeField, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (models.DateField, date(2026, 1, 2)),
        (models.BinaryField, b"\0\xff"),
        (models.FloatField, 0.5),
        (models.BooleanField, False),
        (models.IntegerField, 7),
    ):
        if isinstance(field, kind):
            return value
    return uuid.uuid4().hex[: field.max_length or 32]


def dump(domain: str) -> None:
    """Print all rows of the organization by table, as JSON. Users are named, since each database has its own ids."""
    from docsite.core.tenants.models import Project
    from docsite.server.placement import tables

    project = Project.objects.get(domain=domain)
    found = {}
    for model in tables.find_paths():
        rows = []
        for row in tables.select_rows(model, project.organization_id):
            values = {field.attname: getattr(row, field.attname) for field in model._meta.concrete_fields}
            for field in tables.list_user_fields(model):
                values[field.attname] = str(getattr(row, field.name))
            rows.append({name: _show(value) for name, value in values.items()})
        found[model._meta.label] = sorted(rows, key=json.dumps)
    for name in ("deployment_id", "move_state"):
        for row in found["projects.Organization"]:
            row.pop(name)
    sys.stdout.write(json.dumps(found))


def _show(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes | memoryview) else json.loads(json.dumps(value, default=str))


def print_ids(domain: str) -> None:
    """Print the ids of the views, in the order of their time, and up to which id they are counted."""
    from analytics.counting.sealer import seal_project
    from analytics.models import PageView, Seal
    from docsite.core.tenants.models import Project

    project = Project.objects.get(domain=domain)
    assert seal_project(project.pk)
    views = list(PageView.objects.filter(project=project).order_by("at", "pk").values_list("pk", flat=True))
    sealed = set(Seal.objects.filter(project=project).values_list("sealed_to", flat=True))
    sys.stdout.write(json.dumps([views, sorted(sealed)]))


def refuse_all(domain: str) -> None:
    """Try to write each table of the organization, past all checks but the database's."""
    from docsite.core.tenants.models import Project
    from docsite.server.placement import fence, tables

    project = Project.objects.get(domain=domain)
    for model in fence.list_models():
        name = [field.attname for field in model._meta.concrete_fields if field.attname != "last_used_at"][-1]
        new = build_row(model, project)
        _expect_refusal(lambda new=new: new.save_base(raw=True, force_insert=True))
        if row := tables.select_rows(
            model, project.organization_id
        ).first():  # marks of views are gone when the views are counted
            own = model._base_manager.filter(pk=row.pk)
            _expect_refusal(lambda own=own, change={name: getattr(row, name)}: own.update(**change))
            _expect_refusal(lambda own=own: own._raw_delete("default"))
    sys.stdout.write("refused")


def _expect_refusal(write: Callable[[], object]) -> None:
    from django.db import IntegrityError, transaction

    from docsite.core.tenants import frozen

    with pytest.raises(IntegrityError) as failure, transaction.atomic():
        write()
    assert frozen.is_refusal(failure.value)
