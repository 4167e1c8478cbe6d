"""Reads the row of a project in a table that has one for each, such as its settings."""

from typing import TypeVar

from django.db import models

from docsite.core.row_sql import read_row
from docsite.core.tenants.models import Project

Row = TypeVar("Row", bound=models.Model)


def find_row(model: type[Row], project: Project) -> Row | None:
    """The row of a project; None if there is none."""
    return read_row(model, "project_id", project.pk)
