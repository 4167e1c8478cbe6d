"""How far a long command is: a line each second."""

import time
from typing import Any


class ProgressLine:
    """Call it with what is done and what there is to do; at most a line a second is written."""

    def __init__(self, out: Any, name: str, unit: str) -> None:
        self.out, self.name, self.unit = out, name, unit
        self.shown_at = time.monotonic()

    def __call__(self, done: int, of: int) -> None:
        """So much is done."""
        if time.monotonic() >= self.shown_at + 1:
            self.shown_at = time.monotonic()
            self.out.write(f"{self.name}: {done:,} of {of:,} {self.unit}")
            self.out.flush()
