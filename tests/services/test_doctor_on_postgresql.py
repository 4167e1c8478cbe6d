"""`doctor` sees whether the processes and the commands use the same database."""

import pytest

from tests import scenarios
from tests.ports import free_port

pytestmark = pytest.mark.services


def examine_pool(url: str, pool: str) -> str:
    """What doctor says of the way through a pool."""
    lines = scenarios.complete("doctor", DATABASE_URL=url, POOL_DATABASE_URL=pool).stdout.splitlines()
    (at,) = [at for at, line in enumerate(lines) if line[2:].startswith("Pool")]
    return "\n".join(lines[at : at + 2])


@pytest.mark.matrix
def test_doctor_compares_the_database_of_the_processes(new_database, pooled):
    url, other = (new_database(name)["DATABASE_URL"] for name in ("doctor_now", "doctor_old"))
    assert examine_pool(url, pooled(url)).startswith("✓")
    for pool in (pooled(other), "sqlite:////nowhere/db.sqlite3"):
        found = examine_pool(url, pool)
        assert found.startswith("✗ Pool: the processes use another database than the commands do")
        assert "  → Name the database of `environment` in /etc/docs-service/environment.pool" in found
    closed = f"postgres://docs@127.0.0.1:{free_port()}/doctor_now"
    assert examine_pool(url, closed).startswith("✗ Pool: the processes' way to the database fails")
