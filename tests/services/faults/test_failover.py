"""The primary is killed and its replica promoted, under load."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import scenarios
from tests.conftest import wait_for
from tests.services.faults.load import DONE, LIMITS, Load, make_site
from tests.services.faults.servers import Server

pytestmark = [pytest.mark.services, pytest.mark.faults]

AWAY_SECONDS = 1.5


@pytest.fixture
def primary() -> Iterator[Server]:
    server = Server()
    yield server
    server.remove()


@pytest.fixture
def replica(primary: Server) -> Iterator[Server]:
    """A replica that has every transaction before the primary acknowledges it."""
    scenarios.migrate({"DATABASE_URL": primary.url})
    server = Server(primary)
    primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.query("SELECT pg_reload_conf()")
    wait_for(
        lambda: primary.query("SELECT sync_state FROM pg_stat_replication") == [("sync",)], "synchronous replication"
    )
    yield server
    server.remove()


def test_a_failover_under_load_loses_nothing_and_needs_no_restart(
    primary: Server, replica: Server, start, report, tmp_path: Path
) -> None:
    both = {"DATABASE_URL": f"postgres://docs@127.0.0.1:{primary.port},127.0.0.1:{replica.port}/postgres"}
    site = make_site(both)
    service = start.fresh(**both, **LIMITS, DATABASE_SECONDS="5")
    with Load(site, [service.url]) as load:
        load.wait_for_each(20)
        primary.kill()
        time.sleep(AWAY_SECONDS)
        replica.query("SELECT pg_promote()")
        promoted = time.monotonic()
        well_after = load.wait_for_each(20)
    late = [request for request in load.requests if request.at > promoted + 10 and request.status not in DONE]
    lost = load.count_lost(both, tmp_path)
    report(f"Failover: {load.describe()}; well {well_after:.1f} s after the promotion, lost {lost}.")
    assert {request.status for request in load.requests} <= {*DONE, 503}
    assert load.count(503), "the primary was away"
    assert not late
    assert lost == 0
    log = service.log.read_text()
    assert (log.count("The database does not work"), log.count("Traceback")) == (1, 0), log[-3000:]
