"""Print the progress of a long command."""

import time
from typing import Any


class ProgressLine:
    """Call it with the number of finished and of all items; it prints at most one line a second."""

    def __init__(self, out: Any, name: str, unit: str) -> None:
        self.out, self.name, self.unit = out, name, unit
        self.shown_at = time.monotonic()

    def __call__(self, done: int, of: int) -> None:
        """Print a line, unless one was printed in the last second."""
        if time.monotonic() >= self.shown_at + 1:
            self.shown_at = time.monotonic()
            self.out.write(f"{self.name}: {done:,} of {of:,} {self.unit}")
            self.out.flush()
