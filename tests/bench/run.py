"""One run of a benchmark: bounded in time, in a folder of its own, with a sentence when it cannot go on."""

import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench.relays import Trouble, say


def run(name: str, seconds: int, bench: Callable[[Path], str]) -> int:
    """Print what the benchmark returns; the exit code. Every process that it started ends with this one."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that `finally` runs
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(f"The run took more than {seconds} s."))
    signal.alarm(seconds)
    with tempfile.TemporaryDirectory(prefix=f"bench-{name}-") as folder:
        try:
            shown = bench(Path(folder))
        except Trouble as trouble:
            say(str(trouble))
            return 1
    sys.stdout.write(shown + "\n")
    return 0
