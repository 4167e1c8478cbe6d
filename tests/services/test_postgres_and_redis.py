"""What depends on the stores, once more on PostgreSQL and Redis."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.services

# Files of tests whose result a database or a store of limits can change. Crashes, recounts and shards have databases
# of their own, and are on PostgreSQL in test_analytics; answers that go on elsewhere are in test_two_processes.
_STORED = (
    "analytics/reports/test_question_exports",
    "analytics/counting/test_cells",
    "analytics/collecting/test_collecting",
    "analytics/counting/test_counting",
    "analytics/reports/test_exports",
    "analytics/reports/test_feedback",
    "analytics/collecting/test_identity",
    "analytics/reports/test_visitors",
    "assistant/conversations/test_threads",
    "docsite/core/test_keys",
    "docsite/core/test_limits",
    "search/indexing/test_backends",
    "search/indexing/test_generations",
    "search/indexing/test_ingest",
    "search/test_queries",
    "search/stored_sources/test_runs",
    "search/stored_sources/test_sources",
)


def test_what_is_stored_is_the_same_on_postgresql_and_redis(postgres: str, redis: str) -> None:
    stores = {"TEST_DATABASE_URL": postgres, "TEST_REDIS_URL": redis}
    files = [f"tests/{name}.py" for name in _STORED]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "not browser and not node and not services", *files],
        cwd=ROOT, env={**os.environ, **stores}, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-20_000:]
    assert " passed" in run.stdout.splitlines()[-1]
