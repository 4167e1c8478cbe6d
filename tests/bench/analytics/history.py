"""A made-up history of page views, the same for every engine, and what exact counting finds in it.

Pages follow Zipf's law, hours the rhythm of a day. 15 % of the views are by AI, a fifth of those by crawlers and the
rest by readers (assistants that fetch a page for somebody). A quarter of the AI visitors are seen as humans, too.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PAGES, DAYS = 5_000, 90
WINDOWS = (1, 7, 30, 90)  # days that end with the history
HUMAN, READER, CRAWLER = 0, 1, 2
HUMANS, AI, ANY = 0, 1, 2  # layers; `ANY` counts a visitor of both once
VIEWS_OF_A_VISITOR = 10
AI_SHARE, CRAWLERS, SHARED = 0.15, 0.2, 0.25
DAY = 86_400_000  # milliseconds

Counts = NDArray[np.int64]  # (PAGES + 1, 3): unique visitors by page and layer; row 0 is the whole site


@dataclass(frozen=True)
class History:
    """Views in the order of their instants: four columns of the same length."""

    at: NDArray[np.int64]  # milliseconds since 1970
    page: NDArray[np.int32]  # 1 to PAGES, the most read first
    kind: NDArray[np.uint8]  # HUMAN, READER or CRAWLER
    visitor: NDArray[np.int32]  # from 0, without gaps
    end: int  # midnight after the last day, milliseconds since 1970

    def __len__(self) -> int:
        return len(self.at)

    def last(self, days: int) -> "History":
        """The views of the last days."""
        return self._slice(int(np.searchsorted(self.at, self.start(days))), len(self))

    def part(self, number: int, parts: int) -> "History":
        """One of several parts of about the same length, in order."""
        return self._slice(len(self) * number // parts, len(self) * (number + 1) // parts)

    def _slice(self, first: int, last: int) -> "History":
        columns = (column[first:last] for column in (self.at, self.page, self.kind, self.visitor))
        return History(*columns, end=self.end)

    def start(self, days: int) -> int:
        """When the last days begin, milliseconds since 1970."""
        return self.end - days * DAY

    def save(self, folder: Path) -> None:
        """Write a file for each column."""
        folder.mkdir()
        for name in ("at", "page", "kind", "visitor"):
            np.save(folder / f"{name}.npy", getattr(self, name))
        (folder / "end.json").write_text(json.dumps(self.end))


def read(folder: Path) -> History:
    """What `save` has written, mapped into memory."""
    columns = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("at", "page", "kind", "visitor")]
    return History(*columns, end=json.loads((folder / "end.json").read_text()))


def generate(views: int, seed: int = 1) -> History:
    """So many views, up to the last midnight."""
    random = np.random.default_rng(seed)
    end = int(datetime.now(UTC).timestamp() * 1000) // DAY * DAY
    hour = 1 + 0.8 * np.cos((np.arange(24) - 15) * 2 * np.pi / 24)  # most at 15:00
    hours = random.integers(DAYS, size=views) * 24 + random.choice(24, size=views, p=hour / hour.sum())
    at = np.sort(end - DAYS * DAY + hours * (DAY // 24) + random.integers(DAY // 24, size=views))
    zipf = 1 / np.arange(1, PAGES + 1)
    page = random.choice(PAGES, size=views, p=zipf / zipf.sum()) + 1

    # Humans are numbered from 0, AI visitors from the end; where the two ranges overlap they are the same.
    visitors = max(20, views // VIEWS_OF_A_VISITOR)
    agents = round(visitors * AI_SHARE)
    humans = visitors - round(agents * (1 - SHARED))
    is_ai = random.random(views) < AI_SHARE
    visitor = np.where(is_ai, visitors - 1 - random.integers(agents, size=views), random.integers(humans, size=views))
    crawls = visitor >= visitors - round(agents * CRAWLERS)
    kind = np.where(is_ai, np.where(crawls, CRAWLER, READER), HUMAN)
    return History(at, page.astype(np.int32), kind.astype(np.uint8), visitor.astype(np.int32), end)


def hashed(visitor: NDArray[np.int32]) -> NDArray[np.int64]:
    """64 bits for each visitor, as a keyed hash would give them: the finalizer of SplitMix64, which is one-to-one."""
    bits = (visitor.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (bits ^ (bits >> np.uint64(31))).view(np.int64)


def count(views: History) -> Counts:
    """Unique visitors by brute force: sort the pairs of page and visitor, drop what repeats."""
    width = int(views.visitor.max()) + 1
    pairs = views.page * np.int64(width) + views.visitor
    counts = np.zeros((PAGES + 1, 3), np.int64)
    for layer, mine in ((HUMANS, views.kind == HUMAN), (AI, views.kind != HUMAN), (ANY, slice(None))):
        found = np.sort(pairs[mine])
        found = found[np.diff(found, prepend=-1) > 0]
        counts[:, layer] = np.bincount(found // width, minlength=PAGES + 1)
        counts[0, layer] = np.count_nonzero(np.bincount(views.visitor[mine]))
    return counts
