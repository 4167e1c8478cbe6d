"""A service on PostgreSQL with a view log."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from tests import scenarios
from tests.conftest import PATIENCE, Service, wait_for
from tests.ports import free_port
from tests.processes import manage
from tests.services.slow_network import SlowNetwork
from tests.services.view_log.servers import Server

AGENT = {"userAgent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
ORIGIN = {"Origin": "https://docs.example"}


class Site:
    """A project of a service with a log, and how to report its views."""

    def __init__(self, start: Any, database: dict[str, str], network: SlowNetwork, log: str) -> None:
        self._start, self._database = start, database["DATABASE_URL"]
        behind = self._database.replace(f":{urlsplit(self._database).port}/", f":{network.port}/")
        self.environment = {"DATABASE_URL": behind, "VIEW_LOG_URL": log, "METRICS_TOKEN": "t" * 16}
        name = f"log-{time.time_ns()}"
        command = "createproject", name, "--organization", name, "--docs-url", ORIGIN["Origin"], "--json"
        self.project = json.loads(scenarios.manage(command, database))
        self.headers = {"Authorization": f"Bearer {self.project['admin_key']}"}
        self.sent: set[str] = set()
        self.services: list[Service] = []

    def start(self, run: Callable[..., None] = manage) -> Service:
        """Start a process of the service."""
        self.services.append(self._start.fresh(run, **self.environment))
        return self.services[-1]

    def send(self, http: httpx.Client, *ids: str) -> httpx.Response:
        """Report views with these ids in a batch."""
        now = datetime.now(UTC).isoformat()
        seen = {"path": "/install", "timestamp": now, "ip": "192.0.2.7", **AGENT}
        url = f"{self.services[-1].url}/v1/collect/{self.project['project_id']}/views"
        answer = http.post(url, json={"views": [{"id": name, **seen} for name in ids]}, headers=self.headers)
        if answer.status_code == 200:
            self.sent |= set(ids)
        return answer

    def open(self, http: httpx.Client, name: str) -> httpx.Response:
        """Report a view as a browser does."""
        url = f"{self.services[-1].url}/discovery/v1/view/{self.project['domain']}"
        headers = {**ORIGIN, "User-Agent": AGENT["userAgent"]}
        answer = http.post(url, json={"id": name, "path": "/install"}, headers=headers)
        if answer.status_code == 204:
            self.sent.add(name)
        return answer

    def count(self, http: httpx.Client) -> int:
        """The views of the report."""
        url = f"{self.services[-1].url}/v1/analytics/{self.project['project_id']}/views"
        return int(http.get(url, headers=self.headers).json()["totals"]["total"])

    def stored(self) -> list[int]:
        """The keys of the stored views."""
        with psycopg.connect(self._database) as database:
            rows = database.execute(
                "SELECT key FROM analytics_pageview AS view JOIN projects_project AS project "
                "ON project.id = view.project_id WHERE project.project_id = %s",
                [self.project["project_id"]],
            ).fetchall()
        return [key for (key,) in rows]

    def check_all_stored_once(self) -> None:
        """Every acknowledged view is in the database, once."""
        wait_for(lambda: len(self.stored()) >= len(self.sent), f"{len(self.sent)} views to be stored")
        keys = self.stored()
        assert len(keys) == len(set(keys)) == len(self.sent)


@pytest.fixture(scope="module")
def database(new_database: Callable[[str], dict[str, str]]) -> dict[str, str]:
    """A database for these tests."""
    return new_database("view_log")


@pytest.fixture(scope="module")
def network(database: dict[str, str]) -> SlowNetwork:
    """The way to the database."""
    address = urlsplit(database["DATABASE_URL"])
    assert address.hostname
    assert address.port
    return SlowNetwork(address.hostname, address.port)


@pytest.fixture
def cut(network: SlowNetwork) -> Callable[[bool], None]:
    """Cut this way, so that the database hangs, or refuses connections."""

    def cut(hangs: bool) -> None:
        if hangs:
            network.flows.clear()
        else:
            network.lead_to("127.0.0.1", free_port())

    return cut


@pytest.fixture
def mend(network: SlowNetwork, database: dict[str, str]) -> Iterator[Callable[[], None]]:
    """Mend it. This also happens after the test."""

    def mend() -> None:
        network.flows.set()
        network.lead_to("127.0.0.1", urlsplit(database["DATABASE_URL"]).port or 0)

    yield mend
    mend()


@pytest.fixture
def nats() -> Iterator[Server]:
    """A server of NATS."""
    server = Server()
    yield server
    server.end()


@pytest.fixture
def site(start: Any, database: dict[str, str], network: SlowNetwork, nats: Server) -> Iterator[Site]:
    """A project, and a process of the service."""
    site = Site(start, database, network, nats.url)
    yield site
    for service in site.services:
        service.process.kill()
        service.process.wait(PATIENCE)
