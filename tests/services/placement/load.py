"""Readers of a tenant, and what they were promised."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import httpx

from tests.conftest import NO_TLS, PATIENCE, question

AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
KINDS = ("view", "ask", "search", "report")
PAUSE = 0.03  # seconds between two requests of a thread


class Load:
    """Four threads that send requests for one project: page views, questions, searches, and calls of a report.

    `find_url` returns the address of the deployment to which nginx would send them at this moment.
    """

    def __init__(self, tenant: dict[str, str], find_url: Callable[[], str], *, may_be_refused: bool) -> None:
        self.tenant = tenant
        self.may_be_refused = may_be_refused
        self.views = 0  # that were acknowledged
        self.questions: list[str] = []  # that were answered to the end
        self.done: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._find_url = find_url
        self._stop = threading.Event()
        self._numbers = itertools.count()
        works = (self._view, self._ask, self._search, self._report)
        self._threads = [threading.Thread(target=self._repeat, args=[work]) for work in works]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def has_done(self, number: int, *, since: "Counter[str] | None" = None) -> bool:
        """Whether each thread has done so much, since a state of `done`. Fails at once if something went wrong."""
        assert not self.wrong, self.wrong
        return all(self.done[kind] - (since or {}).get(kind, 0) >= number for kind in KINDS)

    def _repeat(self, work: Callable[[httpx.Client], None]) -> None:
        with httpx.Client(timeout=PATIENCE, trust_env=False, verify=NO_TLS) as client:
            while not self._stop.is_set():
                try:
                    work(client)
                except Exception as failure:
                    self.wrong.append(repr(failure))
                time.sleep(PAUSE)

    def _is_done(self, kind: str, answer: httpx.Response, *, writes: bool = False) -> bool:
        if answer.is_success:
            self.done[kind] += 1
            return True
        if writes and self.may_be_refused and answer.status_code == 503:
            is_right = int(answer.headers["Retry-After"]) > 0 and set(answer.json()) == {"error"}
            self.refused[kind] += 1
            if is_right:
                return False
        self.wrong.append(f"{kind}: {answer.status_code} {answer.text[:300]}")
        return False

    def _key(self, kind: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tenant[kind]}"}

    def _view(self, client: httpx.Client) -> None:
        number = next(self._numbers)
        at = datetime.now(UTC).isoformat()
        view = {"id": f"view-{number:016}", "path": f"/page-{number % 7}", "timestamp": at, "userAgent": AGENT}
        view |= {"ip": f"198.51.100.{number % 200}"}
        url = f"{self._find_url()}/v1/collect/{self.tenant['project_id']}/views"
        answer = client.post(url, json={"views": [view]}, headers=self._key("admin_key"))
        if self._is_done("view", answer, writes=True):
            self.views += answer.json()["accepted"]

    def _ask(self, client: httpx.Client) -> None:
        text = f"What is enough to be found number {next(self._numbers)}?"
        url = f"{self._find_url()}/discovery/v2/assistant/{self.tenant['domain']}/message"
        answer = client.post(url, json=question(text), headers=self._key("assistant_key"))
        if self._is_done("ask", answer, writes=True):
            if '"type":"finish"' in answer.text.replace(" ", ""):
                self.questions.append(text)
            else:
                self.wrong.append(f"ask: {answer.text[-300:]}")

    def _search(self, client: httpx.Client) -> None:
        url = f"{self._find_url()}/discovery/v1/search/{self.tenant['domain']}"
        answer = client.post(url, json={"query": "enough to be found"}, headers=self._key("assistant_key"))
        if self._is_done("search", answer) and "One" not in answer.text:
            self.wrong.append(f"search: {answer.text[:300]}")

    def _report(self, client: httpx.Client) -> None:
        url = f"{self._find_url()}/v1/analytics/{self.tenant['project_id']}/visitors"
        self._is_done("report", client.get(url, headers=self._key("admin_key")))
