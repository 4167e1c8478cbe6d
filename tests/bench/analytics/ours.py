"""Our library as a worker, in process: `python -m tests.bench.analytics.ours`.

DATA_DIR names the folder of its database, DATABASE_URL another database.
"""

import functools
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import django
import numpy as np
from django.core.management import call_command

django.setup()

from django.db import connection  # noqa: E402  # Django comes first
from django.db.models import Count, Sum  # noqa: E402
from django.db.models.functions import Length  # noqa: E402

from analytics.audience import Dimensions  # noqa: E402
from analytics.collecting import writer  # noqa: E402
from analytics.counting import pages, sealer, sweeper  # noqa: E402
from analytics.models import AudienceCells, Cells, Trail  # noqa: E402
from analytics.reports import visitor_counts  # noqa: E402
from docsite.core.tenants.management.commands.createproject import create_project  # noqa: E402
from tests.bench.analytics.engine import Engine, Row  # noqa: E402
from tests.bench.analytics.history import CRAWLER, HUMAN, READER, History, hashed  # noqa: E402
from tests.bench.analytics.over_http import ORIGIN  # noqa: E402

DOMAIN = "bench"
BATCH = 1_000  # views that one caller brings
WAITING = 100  # callers at once
PATIENCE = 1_800.0  # seconds
FIRST = 50  # rows that the export gives if it is asked for no more
PATH = "/page/"
FACTS = {
    kind: writer.Facts(client_class, "html", agent, "", "", "bench", 1, "", "", False)
    for kind, client_class, agent in (
        (HUMAN, "human", ""),
        (READER, "ai_user", "Reader"),
        (CRAWLER, "ai_training", "Crawler"),
    )
}

DEVICES = [("desktop", "Chrome")] * 4 + [
    ("desktop", "Firefox"),
    ("desktop", "Safari"),
    ("phone", "Chrome"),
    ("phone", "Safari"),
]
LANGUAGES = ["en"] * 5 + ["de", "fr", "es", "ja", "zh", "pt"]
SOURCES = [("direct", "")] * 3 + [("search", "google.com")] * 4 + [("ai", "chatgpt.com"), ("code", "github.com")]
SOURCES += [("other", f"site-{number}.example") for number in range(3)]


def _dimensions(kind: int, visitor: int, key: int) -> Dimensions:
    """The audience of a person's view: what they read with stays the same, and one view of three begins a visit."""
    if kind != HUMAN:
        return Dimensions()
    who = (*DEVICES[visitor % len(DEVICES)], LANGUAGES[visitor // 7 % len(LANGUAGES)])
    channel, source = ("internal", "") if key % 3 else SOURCES[key // 3 % len(SOURCES)]
    return _build_dimensions(channel, source, "", "", "", *who)


_build_dimensions = functools.lru_cache(Dimensions)


class Clock:
    """Seconds by step: on the wall, and under `STEP cpu` of this process, whose cores other processes may share."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.seconds[step] += time.perf_counter() - wall
        self.seconds[f"{step} cpu"] += time.process_time() - cpu


class Ours(Engine):
    """Views go through the writer, in batches that wait for their acknowledgement, and then through the sealer."""

    def __init__(self) -> None:
        self.project, _, self.key = create_project(DOMAIN, "Bench", ORIGIN, [])
        self.views = 0

    def load(self, views: History) -> dict[str, float]:
        """Write a part of the history, then seal it. Making the batches is not timed, committing them is."""
        clock = Clock()
        for batches in self.build_batches(views):
            with clock("durable"):
                for waiting in [writer.submit(self.project.pk, batch) for batch in batches]:
                    assert waiting.result().accepted
        with clock("sealing"):
            assert sealer.seal(timeout=PATIENCE)
        return dict(clock.seconds)

    def build_batches(self, views: History) -> Iterator[list[list[writer.View]]]:
        """Batches of one caller each, in groups of those that call at once."""
        for start in range(0, len(views), BATCH * WAITING):
            part = slice(start, start + BATCH * WAITING)
            first = self.views
            self.views += len(views.at[part])
            rows = zip(
                hashed(np.arange(first, self.views)).tolist(), (views.at[part] * 1000).tolist(),
                views.page[part].tolist(), views.kind[part].tolist(), hashed(views.visitor[part]).tolist(),
                strict=True,
            )  # fmt: skip
            made = [
                writer.View(
                    key,
                    at,
                    f"{PATH}{page}",
                    True,
                    visitor,
                    FACTS[kind],
                    _dimensions(kind, visitor, key),
                )
                for key, at, page, kind, visitor in rows
            ]
            yield [made[at : at + BATCH] for at in range(0, len(made), BATCH)]

    def query(self, days: int) -> list[Row]:
        """By our own numbers of pages."""
        return self._counts(days).table.tolist()

    def first(self, days: int) -> list[dict[str, Any]]:
        """With their paths."""
        counts = self._counts(days)
        return [counts.totals, *counts.rows(0, FIRST)]

    def _counts(self, days: int) -> visitor_counts.Counts:
        start, end = (datetime.fromtimestamp(self.history.start(last) / 1000, UTC) for last in (days, 0))
        return visitor_counts.count_visitors(self.project, start, end)

    def rows(self, answer: list[Row]) -> Iterator[Row]:
        paths = pages.paths_of(self.project.pk, [number for number, *_ in answer])
        for path, (_, *counts) in zip(paths, answer, strict=True):
            yield int(path.removeprefix(PATH) or 0), *counts

    def size(self) -> dict[str, int]:
        spans = dict(Cells.objects.values_list("span").annotate(bytes=Sum(Length("blob"))))
        trails = Trail.objects.aggregate(count=Count("visitor"), bytes=Sum(Length("sightings")))
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_database_size(current_database())"
                if connection.vendor == "postgresql"
                else "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            )
            everything = cursor.fetchone()[0]
        hours = spans.pop(1, 0)
        audience = AudienceCells.objects.aggregate(bytes=Sum(Length("blob")))["bytes"] or 0
        return {
            "audience": audience,
            "history": hours + sum(spans.values()),
            "hours": hours,
            "days": sum(spans.values()),
            "trails": trails["bytes"] + 20 * trails["count"],  # with the visitor, the project and where it was trimmed
            "everything": everything,
        }

    def sweep(self) -> dict[str, float]:
        """What happens each night: old views go, trails are shortened."""
        clock = Clock()
        with clock("sweeping"):
            sweeper.sweep(force=True)
        return dict(clock.seconds)

    def about(self) -> dict[str, Any]:
        return {"access": {"project_id": self.project.project_id, "domain": DOMAIN, "key": self.key}}


if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    Ours().serve()
