"""The same suite on PostgreSQL and Redis."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.services


@pytest.mark.parametrize("which", ["not alone", pytest.param("alone", marks=pytest.mark.alone)])
def test_the_quick_suite_passes_on_postgresql_and_redis(postgres: str, redis: str, which: str) -> None:
    stores = {"TEST_DATABASE_URL": postgres, "TEST_REDIS_URL": redis}
    # What they show does not depend on the stores: faults of model servers and readers, signals, reading Markdown.
    # Crashes and shards have databases of their own, and are on PostgreSQL in test_analytics.
    elsewhere = (
        *("analytics/test_durability", "analytics/test_shards"),
        *("assistant/test_faults", "assistant/test_readers", "assistant/test_pieces", "assistant/test_process"),
        *("docsite/test_cors", "docsite/test_errors", "docsite/test_ground", "docsite/test_pages"),
        *(
            "search/test_mdx",
            "search/test_sections",
            "search/test_parsing",
            "search/test_training",
            "bench",
            "contract",
        ),
    )
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-m", f"{which} and not browser and not node and not services"),
            *(f"--ignore-glob=tests/{name}*" for name in elsewhere),
        ],
        cwd=ROOT, env={**os.environ, **stores}, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-20_000:]
    assert " passed" in run.stdout.splitlines()[-1]
