"""PostgreSQL finds what SQLite finds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.search.indexing.test_backends import overlap

pytestmark = pytest.mark.services

SCRIPT = """
import json, sys, django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from docsite.core.tenants.management.commands.createproject import create_project
from search.indexing.ingest import ingest
from tests.search.indexing.test_backends import found, many_pages
project, *_ = create_project("overlap", "Overlap", "https://docs.example", [])
ingest(project, many_pages())
json.dump(found(project), sys.stdout)
"""


def run(folder: Path, database: str) -> list[list[str]]:
    """What the service finds with a database, in a process of its own."""
    folder.mkdir()
    env = {**os.environ, "DATA_DIR": str(folder), "DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "docsite.settings"}  # fmt: skip  # noqa: E501
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_first_ten_pages_are_those_that_sqlite_finds(postgres: str, tmp_path: Path) -> None:
    ones, others = run(tmp_path / "sqlite", ""), run(tmp_path / "postgres", postgres)
    assert overlap(ones, others) >= 0.95
