"""What readers get while PostgreSQL hangs, drops packets, is locked, or has no connection left."""

import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from tests import scenarios
from tests.conftest import PATIENCE, Service, assert_error, question, wait_for
from tests.services.slow_network import SlowNetwork

pytestmark = pytest.mark.services

LIMIT = 2.0  # seconds, as DATABASE_SECONDS
SLACK = 25.0  # of a busy machine; without limits, requests would wait as long as the network is gone
ORIGIN = {"Origin": "https://docs.acme.example"}


class Site:
    """A service on PostgreSQL behind a network that can stop, with one project."""

    def __init__(self, service: Service, network: SlowNetwork, database: str, domain: str, key: str) -> None:
        self.service, self.network, self.database, self.domain = service, network, database, domain
        self.http = httpx.Client(base_url=service.url, timeout=PATIENCE, trust_env=False, verify=False)
        self.headers = {"Authorization": f"Bearer {key}"}

    def search(self) -> httpx.Response:
        return self.http.post(f"/v1/search/{self.domain}", json={"query": "install"}, headers=self.headers)

    def ask(self) -> httpx.Response:
        url = f"/v1/assistant/{self.domain}/message"
        return self.http.post(url, json=question("How do I install it?"), headers=self.headers)

    def view(self) -> httpx.Response:
        body = {"id": f"view-{time.monotonic_ns()}", "path": "/install"}
        return self.http.post(f"/discovery/v1/view/{self.domain}", json=body, headers=ORIGIN)


def set_up() -> None:
    """Make a project with a page, and print its domain and key."""
    from docsite.core.tenants.management.commands.createproject import create_project
    from search.indexing.ingest import ingest
    from search.sources import Page

    project, key, _ = create_project(f"faults-{time.time_ns()}", "Faults", "https://docs.acme.example", [])
    ingest(project, [Page("/install", "Installing", "# Installing\n\nRun `make install` to install it.\n")])
    print(project.domain, key)  # noqa: T201


@pytest.fixture(scope="module")
def site(new_database, start) -> Iterator[Site]:
    database = new_database("faults")
    postgres = database["DATABASE_URL"]
    address = urlsplit(postgres)
    network = SlowNetwork(address.hostname, address.port)
    domain, key = scenarios.run(set_up, database).split()
    behind = postgres.replace(f":{address.port}/", f":{network.port}/")
    service = start.fresh(DATABASE_URL=behind, DATABASE_SECONDS=str(LIMIT), SITE_DOMAIN=domain, SITE_ASSISTANT_KEY=key)
    site = Site(service, network, postgres, domain, key)
    assert site.search().json()
    yield site
    network.flows.set()


def timed(call: Callable[[], httpx.Response]) -> tuple[int, float]:
    began = time.monotonic()
    return call().status_code, time.monotonic() - began


@pytest.mark.matrix
def test_a_network_that_drops_packets_is_a_503_in_time_and_files_come_at_once(site):
    calls = {
        "search": site.search,
        "ask": site.ask,
        "view": site.view,
        "widget settings": lambda: site.http.get(f"/discovery/v1/widget/{site.domain}", headers=ORIGIN),
        "search page": lambda: site.http.get("/search?q=install"),
        "admin": lambda: site.http.get("/admin/", headers={"Cookie": f"docs_session={'x' * 32}"}),
    }
    results: dict[str, tuple[int, float]] = {}
    with site.network.dropped():
        threads = [
            threading.Thread(target=lambda name=name, call=call: results.update({name: timed(call)}))
            for name, call in calls.items()
        ]
        for thread in threads:
            thread.start()
        for path in ("/widget.js", "/static/site/site.css", "/", "/deployment", "/coding-agents", "/llms.txt"):
            status, seconds = timed(lambda path=path: site.http.get(path))
            assert (status in (200, 404), seconds < LIMIT + SLACK) == (True, True), (path, status, seconds)
        ready = site.http.get("/health/ready")
        assert (ready.status_code, ready.json()["database"]) == (503, "no answer within 1.5 seconds")
        assert ready.elapsed.total_seconds() < LIMIT + SLACK
        status, seconds = timed(lambda: site.http.get("/health"))
        assert status == 503
        assert seconds < LIMIT + SLACK
        for thread in threads:
            thread.join()
        again = [timed(site.search) for _ in range(3)]
    assert {name: status for name, (status, _) in results.items()} == dict.fromkeys(calls, 503)
    assert max(seconds for _, seconds in [*results.values(), *again]) < LIMIT + SLACK, [*results.items(), again]
    wait_for(lambda: site.search().status_code == 200, "the database")
    wait_for(lambda: "The database works again" in site.service.log.read_text() or not site.search(), "a line")
    log = site.service.log.read_text()
    assert (log.count("The database does not work"), log.count("Traceback")) == (1, 0), log
    wait_for(lambda: site.view().status_code == 202, "views")
    assert site.ask().status_code == 200


def test_a_locked_table_of_answers_does_not_stop_searches(site):
    with psycopg.connect(site.database) as lock:
        lock.execute("LOCK TABLE assistant_message IN ACCESS EXCLUSIVE MODE")
        asks: list[tuple[int, float]] = []
        threads = [threading.Thread(target=lambda: asks.append(timed(site.ask))) for _ in range(12)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        searches = [timed(site.search) for _ in range(5)]
        for thread in threads:
            thread.join()
    assert {status for status, _ in searches} == {200}
    assert max(seconds for _, seconds in searches) < LIMIT + SLACK
    assert {status for status, _ in asks} == {503}
    assert max(seconds for _, seconds in asks) < LIMIT + SLACK
    wait_for(lambda: site.ask().status_code == 200, "the table")
    assert "locked" not in site.service.log.read_text()


@pytest.mark.matrix
def test_a_process_keeps_few_connections_and_others_wait_for_one(new_database, start):
    database = new_database("connections")
    postgres = database["DATABASE_URL"]
    address = urlsplit(postgres)
    network = SlowNetwork(address.hostname, address.port)
    domain, key = scenarios.run(set_up, database).split()
    behind = postgres.replace(f":{address.port}/", f":{network.port}/")
    service = start.fresh(DATABASE_URL=behind, DATABASE_CONNECTIONS="12", SITE_DOMAIN=domain)
    few = Site(service, network, postgres, domain, key)
    answers: list[int] = []
    calls = (few.search, few.ask, few.view, lambda: few.http.get("/search?q=install"))
    threads = [threading.Thread(target=lambda call=call: answers.append(call().status_code)) for call in calls * 8]
    for thread in threads:
        thread.start()
    counts = [0]
    while any(thread.is_alive() for thread in threads):
        counts.append(network.count_open())
        time.sleep(0.01)
    most = max(map(min, pairwise(counts)))  # the network may learn a moment late that one has closed
    assert set(answers) == {200, 202}, service.log.read_text()[-3000:]
    assert 1 < most <= 12


def test_errors_have_the_one_shape(site):
    with site.network.dropped():
        assert_error(site.search(), 503)
    wait_for(lambda: site.search().status_code == 200, "the database")


def test_connections_that_the_database_closes_are_replaced(site):
    assert site.search().status_code == 200
    with psycopg.connect(site.database, autocommit=True) as admin:
        closed = admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        assert closed.rowcount > 0
    wait_for(lambda: site.search().status_code == 200, "new connections")
    assert [site.search().status_code for _ in range(20)] == [200] * 20
    assert site.service.process.poll() is None
