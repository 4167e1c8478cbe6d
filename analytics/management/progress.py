"""Print the progress of a long command."""

import time
from typing import Any


class ProgressLine:
    """Call it with the number of finished and of all items; it prints at most one line a second."""

    def __init__(self, out: Any, name: str, unit: str) -> None:
        self.out, self.name, self.unit = out, name, unit
        self.printed_at = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """Print a line, unless one was printed in the last second."""
        if time.monotonic() >= self.printed_at + 1:
            self.printed_at = time.monotonic()
            self.out.write(f"{self.name}: {done:,} of {total:,} {self.unit}")
