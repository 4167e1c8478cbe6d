"""Two processes of the service on PostgreSQL behind PgBouncer, which gives each transaction another connection."""

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest

from tests import scenarios
from tests.conftest import PATIENCE, question, wait_for
from tests.docsite.server.test_migrate import migrate_twice_at_once
from tests.processes import ROOT
from tests.services.test_database_faults import set_up

pytestmark = pytest.mark.services

READER = {
    "Origin": "https://docs.acme.example",
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0",
}


@pytest.fixture(scope="module")
def database(new_database, pooled) -> str:
    """Address of a migrated database behind PgBouncer."""
    return pooled(new_database("pooled")["DATABASE_URL"])


def read_in_steps() -> None:
    """Read rows by a cursor of the server, in and outside of a transaction, while other transactions pass by."""
    from django.db import connection, transaction

    from docsite.core.tenants.models import Counter

    rows = [Counter(key=f"step-{number}", value=1, expires_at=1e12) for number in range(300)]
    Counter.objects.bulk_create(rows)
    steps = Counter.objects.filter(key__startswith="step-").order_by("key")
    stop = threading.Event()

    def disturb() -> None:
        while not stop.wait(0.001):
            Counter.objects.filter(key="step-1").exists()
        connection.close()

    others = [threading.Thread(target=disturb) for _ in range(12)]
    for other in others:
        other.start()
    try:
        assert sum(1 for _ in steps.iterator(10)) == len(rows)
        with transaction.atomic():
            assert sum(1 for _ in steps.iterator(10)) == len(rows)
            with connection.cursor() as cursor:
                cursor.execute("SELECT count(*) FROM pg_cursors")
    finally:
        stop.set()
        for other in others:
            other.join()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_cursors WHERE is_holdable")
        assert cursor.fetchone() == (0,)
    steps.delete()


@pytest.mark.matrix  # `test_rows_are_read_in_steps_and_no_cursor_stays` stays
def test_the_service_works_behind_pgbouncer(database: str, start) -> None:
    domain, key = scenarios.run(set_up, {"DATABASE_URL": database}).split()
    environment = {"DATABASE_URL": database, "SITE_DOMAIN": domain, "SITE_ASSISTANT_KEY": key}
    services = start.fresh(**environment), start.fresh(**environment)
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(timeout=PATIENCE, trust_env=False, verify=False) as http, ThreadPoolExecutor(16) as threads:

        def use(number: int) -> list[int]:
            url, view = services[number % 2].url, {"id": uuid.uuid4().hex, "path": "/install"}
            calls = (
                (f"/v1/search/{domain}", {"query": "install"}, headers),
                (f"/v1/assistant/{domain}/message", question("How do I install it?"), headers),
                (f"/discovery/v1/view/{domain}", view, READER),
            )
            return [http.post(url + path, json=body, headers=more).status_code for path, body, more in calls]

        statuses = list(threads.map(use, range(16)))
        assert [seen for seen in statuses if seen != [200, 200, 204]] == []
        for service in services:
            assert http.get(f"{service.url}/health/ready").json()["database"] == "ok"
    log = "".join(service.log.read_text() for service in services)
    assert "Error" not in log, log
    with psycopg.connect(database, autocommit=True, prepare_threshold=None) as admin:

        def count_sealed() -> bool:
            return bool(admin.execute("SELECT count(*) FROM analytics_cells").fetchone()[0])

        wait_for(count_sealed, "the views to be counted")


@pytest.mark.matrix
def test_two_processes_make_the_tables_behind_pgbouncer(
    new_database: Callable[..., dict[str, str]], pooled: Callable[[str], str]
) -> None:
    """One waits for the other, though the pooler gives each statement another connection."""
    database = pooled(new_database("made_behind_the_pooler", "template0")["DATABASE_URL"])
    migrate_twice_at_once({"DATABASE_URL": database})
    with psycopg.connect(database, autocommit=True, prepare_threshold=None) as admin:
        applied = "SELECT count(*) FROM django_migrations WHERE app = 'analytics'"
        written = list((ROOT / "analytics" / "migrations").glob("0*.py"))
        assert admin.execute(applied).fetchone() == (len(written),)


def test_rows_are_read_in_steps_and_no_cursor_stays(database: str) -> None:
    scenarios.run(read_in_steps, {"DATABASE_URL": database})


def write() -> None:
    """Write on the server that the address names."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("UPDATE projects_counter SET value = value")


def test_what_a_pooler_says_of_its_server_is_not_believed(
    postgres: str, new_database: Callable[..., dict[str, str]], pooled: Callable[[str], str]
) -> None:
    """It repeats for ever what the server was when it connected first: here read-only, as a standby before it leads."""
    url = f"{pooled(new_database('promoted')['DATABASE_URL'])}?target_session_attrs=read-write"
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute("ALTER DATABASE promoted SET default_transaction_read_only = on")
        for _ in range(2):
            with pytest.raises(psycopg.OperationalError, match="read-only"):
                psycopg.connect(url)
            admin.execute("ALTER DATABASE promoted RESET default_transaction_read_only")
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'promoted'")
    scenarios.run(write, {"DATABASE_URL": url})
