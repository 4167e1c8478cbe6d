"""The disk of the log is full, and Redis is killed, under load."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import processes
from tests.conftest import ASYNC_UNSAFE, PATIENCE, wait_for
from tests.ports import free_port
from tests.services.conftest import start_redis
from tests.services.faults.load import LIMITS, Load, make_site

pytestmark = [pytest.mark.services, pytest.mark.faults]

FULL_DISK = Path("/dev/full")  # no byte can be written
AWAY_SECONDS = 2.0


@pytest.fixture
def database(new_database) -> dict[str, str]:
    return new_database("full_disk")


@pytest.fixture
def redis_port() -> int:
    return free_port()


@pytest.fixture
def address(database: dict[str, str], redis_port: int, tmp_path: Path) -> Iterator[str]:
    """Of a service whose log cannot be written."""
    port, out = free_port(), tmp_path / "out"
    inherited = {name: value for name, value in os.environ.items() if name != ASYNC_UNSAFE}
    settings = {**inherited, **database, **LIMITS, "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0"}
    process = processes.Process(processes.manage, ("serve", "--port", str(port)), settings, out, FULL_DISK)
    wait_for(lambda: process.poll() is not None or (out.exists() and "Ready:" in out.read_text()), "the service")
    assert process.poll() is None
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    assert process.wait(PATIENCE) == 0


def test_a_full_log_disk_and_a_redis_that_dies_cost_no_view_and_no_search(
    database: dict[str, str], redis_port: int, address: str, report, tmp_path: Path
) -> None:
    site = make_site(database)
    redis = start_redis(redis_port)
    with Load(site, [address]) as load:
        load.wait_for_each(10)
        redis.kill()
        redis.wait(PATIENCE)
        time.sleep(AWAY_SECONDS)
        redis = start_redis(redis_port)
        load.wait_for_each(10)
    redis.terminate()
    redis.wait(PATIENCE)
    lost = load.count_lost(database, tmp_path)
    report(f"Full log disk, and Redis killed: {load.describe()}, lost {lost}.")
    assert load.statuses("search") == {200}
    assert load.statuses("view") == {204}
    assert load.statuses("ask") == {200, 503}, "questions cost money, and only Redis counts them"
    assert lost == 0
