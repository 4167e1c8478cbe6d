"""What depends on the stores, once more on PostgreSQL and Redis."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docsite.core.tenants.management.commands.createproject import create_project
from search.indexing.ingest import ingest
from tests import scenarios
from tests.conftest import ROOT
from tests.search.indexing.test_engine import found, many_pages

pytestmark = pytest.mark.services

IN_PYTHON = "not browser and not node and not services and not faults"


@pytest.mark.matrix
def test_what_is_stored_is_the_same_on_postgresql_and_redis(new_database: Any, redis: str) -> None:
    """Every file in which a test has the marker `stores` passes as a whole when it runs on PostgreSQL and Redis."""
    stores = {
        "TEST_DATABASE_URL": new_database("stored")["DATABASE_URL"],
        "TEST_REDIS_URL": f"{redis.removesuffix('/0')}/1",  # limits of an address last longer than a run
    }
    # The worker's name would make the run share a migrated database with runs of other days.
    environment = {name: value for name, value in {**os.environ, **stores}.items() if name != "PYTEST_XDIST_WORKER"}
    files = [str(file) for file in (ROOT / "tests").rglob("test_*.py") if "pytest.mark.stores" in file.read_text()]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", IN_PYTHON, *files],
        cwd=ROOT, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-20_000:]
    assert " passed" in run.stdout.splitlines()[-1]


def print_found() -> None:
    """Print what the service finds among many pages."""
    project, *_ = create_project("overlap", "Overlap", "https://docs.example", [])
    ingest(project, many_pages())
    json.dump(found(project), sys.stdout)


@pytest.mark.matrix
def test_the_first_ten_pages_are_those_that_sqlite_finds(new_database: Any, copy_database: Any, tmp_path: Path) -> None:
    databases = copy_database(tmp_path), new_database("pages")
    ones, others = (json.loads(scenarios.run(print_found, database)) for database in databases)
    assert ones == others
    assert sum(map(len, ones)) > 900
