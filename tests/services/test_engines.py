"""PostgreSQL finds what SQLite finds."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from docsite.core.tenants.management.commands.createproject import create_project
from search.indexing.ingest import ingest
from tests import scenarios
from tests.search.indexing.test_backends import found, many_pages, overlap

pytestmark = pytest.mark.services


def print_found() -> None:
    """Print what the service finds among many pages."""
    project, *_ = create_project("overlap", "Overlap", "https://docs.example", [])
    ingest(project, many_pages())
    json.dump(found(project), sys.stdout)


def test_the_first_ten_pages_are_those_that_sqlite_finds(postgres: str, copy_database: Any, tmp_path: Path) -> None:
    databases = copy_database(tmp_path), scenarios.migrate({"DATABASE_URL": postgres})
    ones, others = (json.loads(scenarios.run(print_found, database)) for database in databases)
    assert overlap(ones, others) >= 0.95
