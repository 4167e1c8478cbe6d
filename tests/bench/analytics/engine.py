"""What an engine does in its own process: load a history, answer for a number of days, say how large it is."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.analytics.history import PAGES, Counts, History, read
from tests.bench.search.worker import serve

Row = tuple[int, int, int, int]  # page (0: the whole site), humans, AI, both


class Engine(ABC):
    """`load` comes first. Whatever an engine keeps is in its folder, or in the database that is named to it."""

    history: History

    @abstractmethod
    def load(self, views: History) -> dict[str, float]:
        """Take views in, so that they would survive a crash; seconds of each step. Ours gets them in parts."""

    @abstractmethod
    def query(self, days: int) -> Any:
        """Unique visitors of the last days, of the whole site and of each page, as the engine's client gives them."""

    def first(self, days: int) -> Any:
        """The same with as many pages as the export shows at once, where that is less work."""
        return self.query(days)

    @abstractmethod
    def rows(self, answer: Any) -> Iterable[Row]:
        """The same in a common form, for comparison; not timed."""

    @abstractmethod
    def size(self) -> dict[str, int]:
        """Bytes on the disk, by what they are for; `history` is what queries read."""

    def about(self) -> dict[str, Any]:
        """What else the driver has to know."""
        return {}

    def sweep(self) -> dict[str, float]:
        """Drop what is no longer needed, if there is such; seconds of each step."""
        return {}

    def counts(self, days: int) -> Counts:
        """The answer as brute force gives it."""
        found = np.zeros((PAGES + 1, 3), np.int64)
        for page, *counts in self.rows(self.query(days)):
            found[page] = counts
        return found

    def serve(self) -> None:
        """Answer the driver until it is done."""

        def load(folder: str, part: int, parts: int) -> dict[str, Any]:
            self.history = read(Path(folder))
            return {"seconds": self.load(self.history.part(part, parts))}

        def loaded() -> dict[str, Any]:
            return {"bytes": self.size(), **self.about()}

        def ask(days: int, first: bool = False) -> dict[str, Any]:
            question = self.first if first else self.query
            began = time.perf_counter()
            question(days)
            return {"ms": (time.perf_counter() - began) * 1000}

        def sweep() -> dict[str, Any]:
            return {"seconds": self.sweep()}

        def check(days: int, file: str) -> dict[str, Any]:
            np.save(file, self.counts(days))
            return {}

        serve({"load": load, "loaded": loaded, "ask": ask, "check": check, "sweep": sweep})
