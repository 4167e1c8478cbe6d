"""Readers that ask, search and view without a pause, and what must not be lost of it."""

import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import httpx

from tests import scenarios
from tests.conftest import PATIENCE, question

READER = {
    "Origin": "https://docs.acme.example",
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
}
# All readers have one address here.
LIMITS = {f"LIMIT_{name}_IP": "1000000/h" for name in ("ASSISTANT", "SEARCH", "COLLECT", "CPU")} | {
    f"LIMIT_{name}_ORG": "1000000/h" for name in ("ASSISTANT", "SEARCH")
}
KINDS = ("ask", "search", "view")
DONE = {200, 204}


class Site(NamedTuple):
    """A project: its names and its keys."""

    domain: str
    project_id: str
    key: str
    admin_key: str


class Request(NamedTuple):
    """One request: when it was answered (`time.monotonic`), after how many seconds, with which status."""

    kind: str
    at: float
    seconds: float
    status: int


def make_site(database: dict[str, str]) -> Site:
    """Make a project with a page."""
    return Site(*scenarios.run(set_up, database).split())


def set_up() -> None:
    """Make a project with a page, and print its names and keys."""
    from docsite.core.tenants.management.commands.createproject import create_project
    from search.indexing.ingest import ingest
    from search.sources import Page

    project, key, admin_key = create_project(f"faults-{time.time_ns()}", "Faults", "https://docs.acme.example", [])
    ingest(project, [Page("/install", "Installing", "# Installing\n\nRun `make install` to install it.\n")])
    print(project.domain, project.project_id, key, admin_key)  # noqa: T201


class Load:
    """Threads that ask, search and view at addresses, from `with` to its end."""

    def __init__(self, site: Site, addresses: Sequence[str], threads: int = 6) -> None:
        self.addresses = list(addresses)
        self.requests: list[Request] = []
        self.views: list[str] = []  # ids of acknowledged ones
        self.answers: list[str] = []  # ids of messages whose stream came to its end
        self._site = site
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(KINDS[number % len(KINDS)], number)) for number in range(threads)
        ]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for_each(self, count: int = 5) -> float:
        """Wait until each kind was answered so many times more. Returns seconds until the first of all kinds was."""
        began, first = time.monotonic(), {}
        while True:
            done = [request for request in list(self.requests) if request.at > began and request.status in DONE]
            for request in reversed(done):
                first[request.kind] = request.at
            found = Counter(request.kind for request in done)
            if all(found[kind] >= count for kind in KINDS):
                return max(first.values()) - began
            assert time.monotonic() < began + PATIENCE, f"{found} after {PATIENCE} seconds"
            time.sleep(0.05)

    def count(self, *statuses: int) -> int:
        """How many requests were answered with one of these."""
        return sum(request.status in statuses for request in self.requests)

    def slowest(self, *statuses: int) -> float:
        """The most seconds that one of them took."""
        return max((request.seconds for request in self.requests if request.status in statuses), default=0.0)

    def statuses(self, kind: str) -> set[int]:
        """The statuses of one kind."""
        return {request.status for request in self.requests if request.kind == kind}

    def describe(self) -> str:
        """The numbers for the line that a run prints."""
        return (
            f"{len(self.requests)} requests, {self.count(503)} × 503 (slowest {self.slowest(503):.1f} s), "
            f"{len(self.views)} views and {len(self.answers)} answers acknowledged"
        )

    def count_lost(self, database: dict[str, str], folder: Path) -> int:
        """How many acknowledged views and answers the database does not have."""
        file = folder / f"acknowledged-{uuid.uuid4().hex}.json"
        file.write_text(json.dumps([self.views, self.answers]))
        return int(scenarios.run(count_missing, database, self._site.domain, file))

    def _run(self, kind: str, number: int) -> None:
        send = {"ask": self._ask, "search": self._search, "view": self._view}[kind]
        with httpx.Client(timeout=PATIENCE, trust_env=False, verify=False) as http:
            while not self._stop.is_set():
                address = self.addresses[(number + len(self.requests)) % len(self.addresses)]
                began = time.monotonic()
                status = send(http, address)
                ended = time.monotonic()
                self.requests.append(Request(kind, ended, ended - began, status))
                time.sleep(0.02)

    def _ask(self, http: httpx.Client, address: str) -> int:
        response = http.post(
            f"{address}/discovery/v2/assistant/{self._site.domain}/message",
            json=question("How do I install it?"),
            headers={"Authorization": f"Bearer {self._site.key}"},
        )
        if response.status_code != 200:
            return response.status_code
        lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: {")]
        parts = [json.loads(line) for line in lines]
        if parts[-1]["type"] == "finish":
            self.answers.append(parts[0]["messageId"])
            return 200
        return int(next(part.get("status", 500) for part in parts if part["type"] == "error"))

    def _search(self, http: httpx.Client, address: str) -> int:
        headers = {"Authorization": f"Bearer {self._site.key}"}
        response = http.post(f"{address}/v1/search/{self._site.domain}", json={"query": "install"}, headers=headers)
        assert response.status_code != 200 or response.json(), "a page was found before"
        return response.status_code

    def _view(self, http: httpx.Client, address: str) -> int:
        body = {"id": uuid.uuid4().hex, "path": "/install"}
        response = http.post(f"{address}/discovery/v1/view/{self._site.domain}", json=body, headers=READER)
        if response.status_code == 204:
            self.views.append(body["id"])
        return response.status_code


def count_missing(domain: str, file: str) -> None:
    """Print how many of the acknowledged views and answers are not stored."""
    from datetime import UTC, datetime

    from analytics.identity import key_rotation
    from analytics.identity.visitor_hash import keyed_hash
    from analytics.models import PageView
    from assistant.models import Message
    from docsite.core.tenants.models import Project

    project = Project.objects.get(domain=domain)
    secret = key_rotation.secret_of(project, datetime.now(UTC), private=False)
    views, answers = json.loads(Path(file).read_text())
    stored_views = set(PageView.objects.filter(project=project).values_list("key", flat=True))
    done = Message.objects.filter(message_id__in=answers, state=Message.State.DONE)
    missing_answers = set(answers) - set(done.values_list("message_id", flat=True))
    missing_views = [view for view in views if keyed_hash(secret, view, b"view") not in stored_views]
    print(len(missing_views) + len(missing_answers))  # noqa: T201
