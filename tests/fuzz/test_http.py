"""Generated requests to every endpoint: no 5xx but a 503 at a cap, no hang, and errors in the one shape."""

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from requests import PreparedRequest

from tests.conftest import PATIENCE, question
from tests.fuzz.conftest import IS_LONG, MAX_SECONDS, REQUESTS, SEED
from tests.fuzz.generator import Generator, Label
from tests.fuzz.judge import Judge
from tests.fuzz.watch import Watch

THREADS = 4


@pytest.mark.matrix
def test_generated_requests_get_the_described_responses(document, http, service, project, capsys):
    judge, statuses, faults, slowest = Judge(document), Counter[int](), [], (0.0, "")
    sessions = threading.local()

    def send(found: tuple[Label, PreparedRequest]) -> tuple[float, str, int, str]:
        label, request = found
        if not hasattr(sessions, "own"):
            sessions.own = requests.Session()
        begin = time.perf_counter()
        about = f"{request.method} {request.url[:300]} {(request.body or b'')[:300]!r} {dict(request.headers)}"
        try:
            response = sessions.own.send(request, timeout=PATIENCE, allow_redirects=False)
        except requests.RequestException as failure:
            return time.perf_counter() - begin, about, 0, f"{failure!r}: {about}"
        seconds = time.perf_counter() - begin
        fault = judge.fault(label, request, response)
        return seconds, about, response.status_code, f"{fault}: {about}" if fault else ""

    with Watch(service) as watch, ThreadPoolExecutor(THREADS) as pool:
        for seconds, about, status, fault in pool.map(send, Generator(document, project, SEED).requests(REQUESTS)):
            statuses[status] += 1
            slowest = max(slowest, (seconds, about))
            faults += [fault] if fault else []

    if IS_LONG:
        with capsys.disabled():
            print(f"\n{statuses.total()} requests (seed {SEED}): {dict(sorted(statuses.items()))}")  # noqa: T201
            print(f"slowest: {slowest[0]:.2f} s, {slowest[1][:200]}")  # noqa: T201
            print(watch.report())  # noqa: T201
    errors = [line for line in service.log.read_text().splitlines() if " ERROR " in line]
    assert faults == [], "\n".join([f"{len(faults)}:", *faults[:20], *errors[:100]])
    assert slowest[0] < MAX_SECONDS, slowest
    assert {200, 204, 400, 404} <= set(statuses)
    assert statuses.total() >= REQUESTS // 2
    url = f"{service.url}/discovery/v1/assistant/{project.domain}/message"
    assert http.post(url, json=question("How do I install acme?"), headers=project.assistant).status_code == 200
    assert "Internal error" not in service.log.read_text()
