"""How much of the machine went to processes that are not ours, for each part of a run."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.relays import busy, list_processes, read_cpu

MAX_SHARE = 0.15  # of all cores; above it, a figure says more of the other work than of ours


class Witness:
    """Counts the processor time of this process and its descendants, and compares it with all that was spent."""

    def __init__(self) -> None:
        self._spent: dict[str, tuple[float, float]] = {}  # seconds of others and of all cores, by part

    @contextmanager
    def watch(self, part: str) -> Iterator[None]:
        """Count the time of the block for the part. What the hypervisor takes away counts as other work."""
        own, total, idle = _read_own(), _read_busy(), _read_uptime()
        try:
            yield
        finally:
            elapsed = (_read_uptime() - idle) * (os.cpu_count() or 1)
            others = max(0.0, _read_busy() - total - (_read_own() - own))
            spent = self._spent.get(part, (0.0, 0.0))
            self._spent[part] = spent[0] + others, spent[1] + elapsed

    def share(self, part: str) -> float:
        """The share of all cores that went to other work during the part, 0 to 1."""
        others, elapsed = self._spent.get(part, (0.0, 0.0))
        return others / elapsed if elapsed else 0.0


def _read_busy() -> float:
    return sum(busy(core) for core in range(os.cpu_count() or 1))


def _read_uptime() -> float:
    return float(Path("/proc/uptime").read_text().split()[0])


def _read_own() -> float:
    """Seconds of this process and its descendants, with those that have ended."""
    return read_cpu(list_processes(os.getpid()), with_ended=True)
