"""Deleting a project or an organization succeeds while a reader's question is being stored."""

import threading
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests import scenarios

HELD = 0.5  # seconds for which another thread tries to write before the deletion goes on


def delete_while_a_reader_asks() -> None:
    """Delete a project and an organization, also in the lists of the admin.

    A question comes after Django has looked at what belongs to them.
    """
    from django.contrib import admin
    from django.db import IntegrityError, connection
    from django.db.models.deletion import Collector
    from django.http import HttpRequest

    from assistant.models import Message, Thread
    from docsite.core.tenants.management.commands.createproject import create_project
    from docsite.core.tenants.models import Project

    delete = Collector.delete
    outcomes: list[str] = []

    def ask(project: Project) -> None:
        try:
            Thread.objects.create(project=project, thread_id="thread-late", fp="reader-1")
            outcomes.append("stored")
        except IntegrityError:
            outcomes.append("refused")
        finally:
            connection.close()

    def delete_selected(row: Any) -> None:
        model = type(row)
        admin.site.get_model_admin(model).delete_queryset(HttpRequest(), model.objects.filter(pk=row.pk))

    admin.autodiscover()
    ways = product((lambda row: row.delete(), delete_selected), (False, True))
    for number, (delete_row, is_organization) in enumerate(ways):
        project, *_ = create_project(f"late-{number}", f"Late {number}", "https://docs.acme.example", [])
        reader = threading.Thread(target=ask, args=(project,))

        def ask_and_delete(collector: Collector, reader: threading.Thread = reader) -> Any:
            reader.start()
            reader.join(HELD)
            return delete(collector)

        with patch.object(Collector, "delete", ask_and_delete):
            delete_row(project.organization if is_organization else project)
        reader.join()
        assert not Project.objects.filter(pk=project.pk).exists()
        assert not Thread.objects.exists()
        assert not Message.objects.exists()
    assert outcomes == ["refused"] * 4


@pytest.mark.matrix
def test_a_project_is_deleted_while_a_reader_asks(
    tmp_path: Path, copy_database: Callable[[Path], dict[str, str]]
) -> None:
    scenarios.run(delete_while_a_reader_asks, copy_database(tmp_path))
