"""Streams, a push and searches in a process whose memory is capped."""

import asyncio
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests import scenarios
from tests.conftest import PATIENCE, fake, question, wait_for
from tests.ports import free_port
from tests.processes import ROOT
from tests.search.pushes.archives import tar
from tests.services.faults.load import LIMITS, Site, make_site

pytestmark = [pytest.mark.services, pytest.mark.faults]

MIB = 2**20
CAP_MIB = 384
STREAMS, PAGES, SEARCHES_AT_ONCE = 200, 2_000, 4
# Of version 1 and 2 of control groups: where they are, the file of the limit, and that of the peak.
GROUPS = (
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"),
    ("/sys/fs/cgroup", "memory.max", "memory.peak"),
)


class Cap:
    """A cap of memory for a process and its children: of a control group, or else of each process (`ulimit`)."""

    def __init__(self) -> None:
        self._group: Path | None = None
        for parent, limit, peak in GROUPS:
            group = Path(parent, f"docs-service-faults-{os.getpid()}")
            with suppress(OSError):
                group.mkdir()
                self._group, self._peak = group, group / peak
                (group / limit).write_text(str(CAP_MIB * MIB))
                return
            self.remove()

    def wrap(self, *command: str) -> list[str]:
        """The command, run under the cap."""
        if self._group:
            return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self._group / "cgroup.procs"), *command]
        return ["sh", "-c", f'ulimit -d {2 * CAP_MIB * 1024} && exec "$@"', "sh", *command]

    def describe(self) -> str:
        """What was capped, and how much was used."""
        if self._group is None:
            return f"Data of each process capped at {2 * CAP_MIB} MiB, since no control group can be made here"
        return f"Memory capped at {CAP_MIB} MiB, peak {int(self._peak.read_text()) // MIB} MiB"

    def remove(self) -> None:
        """Remove the group, whose processes have ended."""
        if self._group:
            wait_for(self._is_removed, "the kernel to empty the group")
            self._group = None

    def _is_removed(self) -> bool:
        assert self._group
        with suppress(OSError):
            self._group.rmdir()
        return not self._group.exists()


@pytest.fixture
def cap() -> Iterator[Cap]:
    cap = Cap()
    yield cap
    cap.remove()


@pytest.fixture
def database(new_database) -> dict[str, str]:
    return new_database("capped")


@pytest.fixture
def address(cap: Cap, database: dict[str, str], upstream, tmp_path: Path) -> Iterator[str]:
    """Of a service with a model, under the cap."""
    port, log = free_port(), tmp_path / "log"
    environment = scenarios.environment({**database, **LIMITS, "OPENAI_BASE_URL": f"{upstream.url}/v1"})
    command = cap.wrap(sys.executable, "manage.py", "serve", "--port", str(port))
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out)
    wait_for(lambda: process.poll() is not None or "Ready:" in log.read_text(), "the service")
    assert process.poll() is None, log.read_text()
    yield f"http://127.0.0.1:{port}"
    assert process.poll() is None, log.read_text()[-3000:]
    process.terminate()
    process.wait(PATIENCE)


async def stream(address: str, site: Site) -> Counter[str]:
    """Read many answers at once. Returns how they ended."""
    url = f"{address}/discovery/v2/assistant/{site.domain}/message"
    headers = {"Authorization": f"Bearer {site.key}"}
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False, verify=False, limits=limits) as http:

        async def ask() -> str:
            response = await http.post(url, json=question("How?", context=fake("slow")), headers=headers)
            if response.status_code != 200:
                return str(response.status_code)
            return "finish" if '"type":"finish"' in response.text.replace(" ", "") else "error"

        return Counter(await asyncio.gather(*(ask() for _ in range(STREAMS))))


def test_two_hundred_streams_a_push_and_searches_fit_into_little_memory(
    database: dict[str, str], address: str, cap: Cap, report
) -> None:
    site = make_site(database)
    files = {
        f"docs/page-{number}.md": f"# Page {number}\n\n{'How to install. ' * 200}\n".encode() for number in range(PAGES)
    }
    searches: Counter[int] = Counter()
    pushed: list[str] = []
    over = threading.Event()

    def search() -> None:
        headers = {"Authorization": f"Bearer {site.key}"}
        with httpx.Client(timeout=PATIENCE, trust_env=False, verify=False) as http:
            while not over.is_set():
                response = http.post(f"{address}/v1/search/{site.domain}", json={"query": "install"}, headers=headers)
                searches[response.status_code] += 1

    def push() -> None:
        headers = {"Authorization": f"Bearer {site.admin_key}"}
        with httpx.Client(timeout=10 * PATIENCE, trust_env=False, verify=False) as http:
            response = http.put(f"{address}/v1/sources/{site.project_id}/docs", content=tar(files), headers=headers)
            pushed.append(response.text.splitlines()[-1])

    threads = [threading.Thread(target=search) for _ in range(SEARCHES_AT_ONCE)]
    pushing = threading.Thread(target=push)
    for thread in (*threads, pushing):
        thread.start()
    streams = asyncio.run(stream(address, site))
    pushing.join()
    over.set()
    for thread in threads:
        thread.join()
    report(
        f"{cap.describe()}: {streams['finish']} of {STREAMS} streams whole, a push of {PAGES} pages, "
        f"{searches[200]} searches, {searches.total() - searches[200]} refused."
    )
    assert streams == {"finish": STREAMS}
    assert '"result":"changed"' in pushed[0].replace(" ", ""), pushed
    assert set(searches) == {200}
