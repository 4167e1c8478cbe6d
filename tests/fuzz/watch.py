"""What a service does while others attack it: how long it lets a probe wait, and how much memory it keeps."""

import re
import threading
import time
from pathlib import Path
from types import TracebackType

import httpx

from tests.conftest import PATIENCE, Service

EVERY = 0.1  # seconds between two probes
REST_SECONDS = 30.0  # after which answers that nobody resumes are forgotten


class Watch:
    """Probes `/health` and reads the memory of a service, from a thread of its own."""

    def __init__(self, service: Service) -> None:
        self.waits: list[float] = []  # seconds
        self.memories: list[float] = []  # MiB, one for each probe
        self._service = service
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._thread.join(PATIENCE)

    def memory(self) -> float:
        """MiB that the process holds now."""
        status = Path(f"/proc/{self._service.process.pid}/status").read_text()
        found = re.search(r"RssAnon:\s+(\d+) kB", status)  # without files that are mapped, such as the database
        assert found, status
        return int(found[1]) / 1024

    def percentile(self, share: float) -> float:
        """The wait in milliseconds that this share of the probes did not exceed."""
        waits = sorted(self.waits)
        return 1000 * waits[min(len(waits) - 1, int(share * len(waits)))]

    def report(self) -> str:
        """The figures, for people."""
        quarters = [self.memories[len(self.memories) * quarter // 4] for quarter in range(4)] + [self.memories[-1]]
        time.sleep(REST_SECONDS)
        return (
            f"{len(self.waits)} probes: median {self.percentile(0.5):.0f} ms, 95 % {self.percentile(0.95):.0f} ms, "
            f"99 % {self.percentile(0.99):.0f} ms, longest {self.percentile(1):.0f} ms\n"
            f"memory at the start and after each quarter: {', '.join(f'{memory:.0f}' for memory in quarters)} MiB, "
            f"{max(self.memories):.0f} at most, {self.memory():.0f} after {REST_SECONDS:.0f} s of rest"
        )

    def _run(self) -> None:
        with httpx.Client(timeout=PATIENCE, trust_env=False) as client:
            while not self._is_over.wait(EVERY):
                begin = time.perf_counter()
                client.get(f"{self._service.url}/health").raise_for_status()
                self.waits.append(time.perf_counter() - begin)
                self.memories.append(self.memory())
