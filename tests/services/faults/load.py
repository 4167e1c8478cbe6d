"""Readers that ask, search and view without a pause, owners that push, and what must not be lost of it."""

import contextlib
import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests import scenarios
from tests.conftest import PATIENCE, fake, question
from tests.search.pushes.archives import tar

READER = {
    "Origin": "https://docs.acme.example",
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
}
# All readers have one address here.
LIMITS = {f"LIMIT_{name}_IP": "1000000/h" for name in ("ASSISTANT", "SEARCH", "COLLECT", "CPU")} | {
    f"LIMIT_{name}_ORG": "1000000/h" for name in ("ASSISTANT", "SEARCH", "PUSH")
}
KINDS = ("ask", "search", "view")
DONE = {200, 204}
RESUME_SECONDS = 30.0  # that a reader tries to go on with an answer
SETTLE_SECONDS = 60.0  # until what was acknowledged is in the database


class Site(NamedTuple):
    """A project: its names and its keys."""

    domain: str
    project_id: str
    key: str
    admin_key: str


class Request(NamedTuple):
    """One request: when it was answered (`time.monotonic`), how many seconds it took, its status; 0: no answer."""

    kind: str
    at: float
    seconds: float
    status: int


class Stored(NamedTuple):
    """What the database has: how many acknowledged views, answers and pushes it lacks, its views, and their keys."""

    views: int
    answers: int
    pushes: int
    rows: int
    keys: int


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
    """Threads that send each kind of request to addresses, from `with` to its end.

    A view that is refused is sent again with its id, as a log that is sent in batches is. The reader of an answer that
    breaks off resumes it. `patience` is for one request, `pause` between two of a thread; both are seconds.
    """

    def __init__(
        self,
        site: Site,
        addresses: Sequence[str],
        threads: int = 6,
        kinds: Sequence[str] = KINDS,
        patience: float = PATIENCE,
        pause: float = 0.02,
    ) -> None:
        self.addresses = list(addresses)
        self.requests: list[Request] = []
        self.views: list[str] = []  # ids of acknowledged ones
        self.answers: list[str] = []  # ids of messages whose stream came to its end
        self.endings: Counter[str] = Counter()  # of answers that had begun
        self.pushed = 0  # the number of the last push that was acknowledged
        self._site, self._kinds, self._patience, self._pause = site, kinds, patience, pause
        self._refused_views: dict[int, str] = {}  # by thread, which sends it again
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(kinds[number % len(kinds)], number)) for number in range(threads)
        ]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for_each(self, count: int = 5, seconds: float = PATIENCE) -> float:
        """Wait until each kind was answered so many times more, a push once. Returns seconds until each was once."""
        began, first = time.monotonic(), {}
        while True:
            done = [request for request in list(self.requests) if request.at > began and request.status in DONE]
            for request in reversed(done):
                first[request.kind] = request.at
            found = Counter(request.kind for request in done)
            if all(found[kind] >= (1 if kind == "push" else count) for kind in self._kinds):
                return max(first.values()) - began
            assert time.monotonic() < began + seconds, f"{found} after {seconds} seconds"
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

    def longest_wait(self, kind: str) -> float:
        """The most seconds that an answered request of one kind took."""
        return max((each.seconds for each in self.requests if each.kind == kind and each.status in DONE), default=0.0)

    def refused(self, kind: str) -> tuple[int, float]:
        """How many requests of a kind were refused, and the seconds from the first of them to the last."""
        found = [request for request in self.requests if request.kind == kind and request.status not in DONE]
        began = min((request.at - request.seconds for request in found), default=0.0)
        return len(found), max((request.at for request in found), default=0.0) - began

    def describe(self) -> str:
        """The numbers for the line that a run prints."""
        return (
            f"{len(self.requests)} requests, {self.count(503)} × 503 (slowest {self.slowest(503):.1f} s), "
            f"{len(self.views)} views and {len(self.answers)} answers acknowledged"
        )

    def count_lost(self, database: dict[str, str], folder: Path) -> int:
        """How many acknowledged views and answers the database does not have."""
        stored = self.compare(database, folder)
        return stored.views + stored.answers

    def compare(self, database: dict[str, str], folder: Path) -> Stored:
        """Compare what was acknowledged with the database."""
        file = folder / f"acknowledged-{uuid.uuid4().hex}.json"
        file.write_text(json.dumps([self.views, self.answers, self.pushed]))
        return Stored(*json.loads(scenarios.run(compare, database, self._site.domain, file)))

    def _run(self, kind: str, number: int) -> None:
        send = {"ask": self._ask, "search": self._search, "view": self._view, "push": self._push}[kind]
        with httpx.Client(timeout=self._patience, trust_env=False, verify=False) as http:
            while not self._stop.is_set():
                address = self.addresses[(number + len(self.requests)) % len(self.addresses)]
                began = time.monotonic()
                try:
                    status = send(http, address)
                except httpx.TransportError:
                    status = 0
                ended = time.monotonic()
                self.requests.append(Request(kind, ended, ended - began, status))
                self._stop.wait(self._pause)

    def _ask(self, http: httpx.Client, address: str) -> int:
        chat = uuid.uuid4().hex
        # A model takes a second or four for the answer. Without one the words change nothing.
        context = fake("slower" if len(self.requests) % 2 else "slow")
        body = question("How do I install it?", id=chat, resumable=True, context=context)
        path = f"{address}/discovery/v2/assistant/{self._site.domain}/message"
        headers = {"Authorization": f"Bearer {self._site.key}"}
        events: list[dict[str, Any]] = []
        with http.stream("POST", path, json=body, headers=headers) as response:
            if response.status_code != 200:
                return response.status_code
            read_events(response, events)
        if not events:
            return 0
        ending, until = "finished", time.monotonic() + RESUME_SECONDS
        while events[-1]["type"] not in ("finish", "error") and time.monotonic() < until:
            ending = "resumed"
            time.sleep(0.5)
            with (
                contextlib.suppress(httpx.TransportError),
                http.stream("GET", f"{path}/{chat}/stream", headers=headers) as again,
            ):
                if again.status_code == 204:
                    break
                if again.status_code == 200:
                    repeated: list[dict[str, Any]] = []
                    read_events(again, repeated)
                    events = repeated or events
        if events[-1]["type"] == "finish":
            self.endings[ending] += 1
            self.answers.append(events[0]["messageId"])
            return 200
        is_told = events[-1]["type"] == "error"
        self.endings["told" if is_told else "open"] += 1
        return int(events[-1].get("status", 500)) if is_told else 0

    def _search(self, http: httpx.Client, address: str) -> int:
        headers = {"Authorization": f"Bearer {self._site.key}"}
        response = http.post(f"{address}/v1/search/{self._site.domain}", json={"query": "install"}, headers=headers)
        assert response.status_code != 200 or response.json(), "a page was found before"
        return response.status_code

    def _view(self, http: httpx.Client, address: str) -> int:
        sent = self._refused_views.setdefault(threading.get_ident(), uuid.uuid4().hex)
        body = {"id": sent, "path": "/install"}
        response = http.post(f"{address}/discovery/v1/view/{self._site.domain}", json=body, headers=READER)
        if response.status_code == 204:
            self.views.append(self._refused_views.pop(threading.get_ident()))
        return response.status_code

    def _push(self, http: httpx.Client, address: str) -> int:
        number = 1 + sum(request.kind == "push" for request in self.requests)
        files = {"docs/pushed.md": f"# Pushed\n\nThis is number {number}.\n".encode()}
        path = f"{address}/v1/sources/{self._site.project_id}/docs"
        headers = {"Authorization": f"Bearer {self._site.admin_key}"}
        response = http.put(path, content=tar(files), headers=headers, timeout=3 * self._patience)
        if response.status_code != 200:
            return response.status_code
        end = json.loads(response.text.splitlines()[-1])
        if end["event"] != "end":
            return 500
        self.pushed = number
        return 200


def read_events(response: httpx.Response, events: list[dict[str, Any]]) -> None:
    """Add the events of a stream, up to its end or until it breaks off."""
    with contextlib.suppress(httpx.TransportError):
        events.extend(
            json.loads(line.removeprefix("data: ")) for line in response.iter_lines() if line.startswith("data: {")
        )


def compare(domain: str, file: str) -> None:
    """Print the numbers of `Stored`, when nothing is missing or nothing comes any more."""
    from datetime import UTC, datetime

    from analytics.identity import key_rotation
    from analytics.identity.visitor_hash import keyed_hash
    from analytics.models import PageView
    from assistant.models import Message
    from docsite.core.tenants.models import Project
    from search.models import Section

    project = Project.objects.get(domain=domain)
    secret = key_rotation.secret_of(project, datetime.now(UTC), private=False)
    views, answers, pushed = json.loads(Path(file).read_text())
    wanted = {keyed_hash(secret, view, b"view") for view in views}
    until = time.monotonic() + SETTLE_SECONDS
    while True:
        keys = list(PageView.objects.filter(project=project).values_list("key", flat=True))
        done = Message.objects.filter(message_id__in=answers, state=Message.State.DONE).count()
        texts = Section.objects.filter(document__project=project, text__contains="This is number").values_list("text")
        number = max((int(text.rpartition("number ")[2].strip(" .\n")) for (text,) in texts), default=0)
        missing = len(wanted - set(keys)), len(set(answers)) - done, int(number < pushed)
        if not any(missing) or time.monotonic() > until:
            break
        time.sleep(0.5)
    print(json.dumps([*missing, len(keys), len(set(keys))]))  # noqa: T201
