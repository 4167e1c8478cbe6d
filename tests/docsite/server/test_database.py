"""The database as each connection gets it, and what the service does when the disk is full."""

from pathlib import Path

import httpx
import pytest
from django.db import connection

from docsite.core import sweeper
from tests import scenarios
from tests.conftest import assert_error, question
from tests.processes import manage

pytestmark = pytest.mark.slow

ORIGIN = {"Origin": "https://docs.acme.example"}


def without_space(*arguments: str) -> None:
    """A service whose database cannot grow."""
    import django
    from django.conf import settings

    settings.DATABASES["default"]["OPTIONS"]["init_command"] += "; PRAGMA max_page_count=1"  # as large as it is
    django.setup()
    manage(*arguments)


@pytest.mark.parametrize(("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 1), ("foreign_keys", 1)])
def test_a_connection_writes_ahead(pragma, value):
    connection.close()  # another test may have used a thread's connection that is safer
    with connection.cursor() as cursor:
        assert cursor.execute(f"PRAGMA {pragma}").fetchone() == (value,)


def test_writers_wait_for_each_other():
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA busy_timeout").fetchone()[0] >= 5_000
    assert connection.transaction_mode == "IMMEDIATE"


def delete_much() -> None:
    """Fill the database, delete half of it, then the rest, and give the space back each time."""
    file = Path(connection.settings_dict["NAME"])
    sweeper.MIN_FREE_PAGES = 500

    def size() -> int:
        """The size of the file in steps of 100 kB."""
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return file.stat().st_size // 100_000

    small = size()
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE much (number INTEGER PRIMARY KEY, bytes BLOB)")
        cursor.executemany("INSERT INTO much VALUES (%s, zeroblob(10000))", [[number] for number in range(1_000)])
        assert sweeper.shrink_file() == 0
        full = size()
        assert full > small + 90
        cursor.execute("DELETE FROM much WHERE number < 100")
        assert sweeper.shrink_file() == 0, "new rows will need so little"
        assert size() == full
        cursor.execute("DELETE FROM much WHERE number % 10")
        assert sweeper.shrink_file() > 0
        assert small + 10 < size() < full // 2
        cursor.execute("SELECT sum(length(bytes)) FROM much")
        assert cursor.fetchone() == (90 * 10_000,)
        cursor.execute("PRAGMA integrity_check")
        assert cursor.fetchone() == ("ok",)


@pytest.mark.matrix
def test_deleted_rows_give_their_space_back(copy_database, tmp_path):
    scenarios.run(delete_much, copy_database(tmp_path))


def test_a_full_disk_is_a_503_and_reads_go_on(http, start, project):
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # other tests leave free pages
    service = start.fresh(without_space)
    discovery = f"{service.url}/discovery/v1"

    def view(number: int) -> httpx.Response:
        body = {"id": f"full-{project.domain}-{number}", "path": f"/{number}/" + "x" * 180}
        return http.post(f"{discovery}/view/{project.domain}", json=body, headers=ORIGIN)

    answers = (view(number) for number in range(300))  # the first rows may fit into pages that are there
    refused = next(answer for answer in answers if answer.status_code >= 400)
    assert_error(refused, 503)
    assert int(refused.headers["retry-after"]) >= 1
    found = http.post(f"{discovery}/search/{project.domain}", json={"query": "install"}, headers=project.assistant)
    assert found.json()[0]["path"] == "/install"
    ask = question("How do I install acme with pip?")
    answer = http.post(f"{discovery}/assistant/{project.domain}/message", json=ask, headers=project.assistant)
    assert answer.status_code in (200, 503)
    assert http.get(f"{service.url}/health").status_code == 200
    assert service.process.poll() is None
