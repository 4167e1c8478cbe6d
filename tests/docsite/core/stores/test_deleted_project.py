"""A project or an organization is deleted at the moment when a reader's question is stored."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests import scenarios

HELD = 1  # seconds for which another thread tries to write before the deletion goes on


def delete_while_a_reader_asks() -> None:
    """Delete a project and an organization; a question comes after Django has looked at what belongs to them."""
    from django.db import IntegrityError, connection
    from django.db.models.deletion import Collector

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

    for number, is_organization in enumerate((False, True)):
        project, *_ = create_project(f"late-{number}", f"Late {number}", "https://docs.acme.example", [])
        reader = threading.Thread(target=ask, args=(project,))

        def ask_and_delete(collector: Collector, reader: threading.Thread = reader) -> Any:
            reader.start()
            reader.join(HELD)
            return delete(collector)

        with patch.object(Collector, "delete", ask_and_delete):
            (project.organization if is_organization else project).delete()
        reader.join()
        assert not Project.objects.filter(pk=project.pk).exists()
        assert not Thread.objects.exists()
        assert not Message.objects.exists()
    assert outcomes == ["refused", "refused"]


def test_a_project_is_deleted_while_a_reader_asks(
    tmp_path: Path, copy_database: Callable[[Path], dict[str, str]]
) -> None:
    scenarios.run(delete_while_a_reader_asks, copy_database(tmp_path))
