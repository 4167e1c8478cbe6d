"""Figures to Markdown tables, and the targets with their verdicts. They are meant for 10 million views."""

import statistics
from collections.abc import Iterator, Sequence

from tests.bench.analytics.engines import OURS, SMALL, SMALL_POSTGRES
from tests.bench.analytics.history import ANY, PAGES, WINDOWS
from tests.bench.analytics.measure import TENTH, WHOLE, Figures
from tests.bench.others import Witness
from tests.bench.search.table import render
from tests.bench.summary import Row

LONGEST = WINDOWS[-1]
STEPS = ("durable", "index", "sealing")  # before the first answer
NAMES = {
    OURS: "ours, SQLite",
    SMALL: "ours, SQLite, a tenth of the views, swept",
    SMALL_POSTGRES: "ours, PostgreSQL, a tenth of the views",
    "postgresql": "PostgreSQL {version}, COUNT(DISTINCT) of raw rows",
    "duckdb": "DuckDB, count(DISTINCT) of raw rows",
    "duckdb-approx": "DuckDB, approx_count_distinct of raw rows",
    "datasketches": "DataSketches HLL of each day, in SQLite",
    "clickhouse": "ClickHouse uniqCombined of each day",
    "clickhouse-by-page": "the same, ordered by page",
}
SKETCHES = ("datasketches", "clickhouse", "clickhouse-by-page")

Target = tuple[str, str, str, bool]  # what, measured, wanted, met


def compared(figures: Figures) -> str:
    """Every engine: how long, how much, how far off."""
    lines = [["totals and every page, ms", *_days(), "× ours", "bytes/view", "most off", "at most by", "loaded/s"]]
    for name, loaded in figures.loads.items():
        views = _views(figures, name)
        most, relative = figures.errors[name]
        ours = _median(figures, SMALL if "tenth" in name else OURS, LONGEST)
        mine = _median(figures, name, LONGEST)
        lines.append([
            NAMES[name].format(**loaded),
            *(_ms(_median(figures, name, days)) for days in WINDOWS),
            "" if mine is None or not ours or name in (OURS, SMALL) else f"{mine / ours:,.1f}",
            f"{loaded['bytes']['history'] / views:.2f}",
            f"{most:,}",
            f"{relative:.1%}",
            f"{views / sum(loaded['seconds'][step] for step in STEPS if step in loaded['seconds']):,.0f}",
        ])  # fmt: skip
    return render(lines)


def ours(figures: Figures) -> str:
    """What ours takes in and keeps."""
    lines = [
        [
            "ours",
            "written/s",
            "per CPU s",
            "sealed/s",
            "per CPU s",
            "hours, B/view",
            "days, B/view",
            "trails, B/pair",
            "all, B/view",
        ]
    ]
    for name, loaded in figures.loads.items():
        if name.startswith(OURS):
            views, seconds, size = _views(figures, name), loaded["seconds"], loaded["bytes"]
            lines.append([
                NAMES[name],
                *(
                    f"{views / seconds[step]:,.0f}"
                    for step in ("durable", "durable cpu", "sealing", "sealing cpu")
                ),
                f"{size['hours'] / views:.2f}",
                f"{size['days'] / views:.2f}",
                f"{size['trails'] / _pairs(figures, name):.1f}",
                f"{size['everything'] / views:.0f}",
            ])  # fmt: skip
    return render(lines)


def http(figures: Figures) -> str:
    """Our service over HTTP."""
    found = figures.http
    assert found
    lines = [["ours over HTTP", ""]]
    spent = found.visitors
    lines.append(
        [f"export of {LONGEST} days, first rows, p50 / p95 ms", f"{_p(spent, 0.5):.1f} / {_p(spent, 0.95):.1f}"]
    )
    lines.append(["views/s in batches of 1,000, on all cores", f"{found.batches:,.0f}"])
    lines.append(["single beacons/s, a process on one core", f"{statistics.median(found.beacons):,.0f}"])
    lines.append(["an empty view, the same way", f"{statistics.median(found.empty):,.0f}"])
    lines.append(["from acknowledged to exported, most ms", f"{max(found.fresh):.0f}"])
    return render(lines)


def targets(figures: Figures) -> str:
    """A line for each target that could be judged."""
    return "\n".join(
        f"- {'met' if met else 'MISSED'}: {what}: {measured} (target {wanted})"
        for what, measured, wanted, met in _targets(figures)
    )


def _targets(figures: Figures) -> Iterator[Target]:
    mine, loaded = _median(figures, OURS, LONGEST), figures.loads[OURS]
    if mine is not None:
        first = statistics.median(figures.first)
        yield f"{LONGEST} days, totals and the first rows, in the engine", _ms(first) + " ms", "10 ms", first <= 10
        theirs = _median(figures, "postgresql", LONGEST)
        if theirs is not None:
            yield "times as fast as PostgreSQL's COUNT(DISTINCT)", f"{theirs / mine:,.0f}", "500", theirs / mine >= 500
        sketches = [ms for name in SKETCHES if (ms := _median(figures, name, LONGEST)) is not None]
        if sketches:
            lead = min(sketches) / mine
            yield "times as fast as the best design with sketches", f"{lead:.0f}", "25", lead >= 25
        small = _median(figures, SMALL, LONGEST)
        if small is not None:
            yield "time for ten times the views", f"{mine / small:.1f} times", "2.5 times", mine / small <= 2.5
    off = max(most for name, (most, _) in figures.errors.items() if name.startswith(OURS))
    yield "counts that differ from brute force, at most by", f"{off}", "0", off == 0
    yield "rows with max(human, ai) <= total <= human + ai broken", f"{figures.impossible}", "0", not figures.impossible
    rate = figures.views / loaded["seconds"]["durable"]
    yield "views/s through the library, acknowledged when durable", f"{rate:,.0f}", "250,000", rate >= 250_000
    if figures.http:
        yield from _over_http(figures)
    for part, limit in (("days", 1.0), ("hours", 5.0)):
        size = loaded["bytes"][part] / figures.views
        yield f"bytes per view of the cells of {part}", f"{size:.2f}", f"{limit:.0f}", size <= limit
    if SMALL in figures.loads:
        size = figures.loads[SMALL]["bytes"]["trails"] / _pairs(figures, SMALL)
        yield "bytes for each page that a visitor has seen, after a sweep", f"{size:.1f}", "12", size <= 12


def _over_http(figures: Figures) -> Iterator[Target]:
    found = figures.http
    assert found
    p50 = _p(found.visitors, 0.5)
    yield f"{LONGEST} days over HTTP, p50", f"{p50:.1f} ms", "20 ms", p50 <= 20
    yield "views/s over HTTP in batches", f"{found.batches:,.0f}", "50,000", found.batches >= 50_000
    share = statistics.median(found.beacons) / statistics.median(found.empty)
    yield "rate of single beacons, of an empty view's", f"{share:.0%}", "80 %", share >= 0.8
    yield "a view is in the export after", f"{max(found.fresh) / 1000:.2f} s", "2 s", max(found.fresh) <= 2000


def summarize(figures: Figures, witness: Witness) -> Iterator[Row]:
    """Reading and writing beside the peers, and what the counts are off."""
    mine, loaded = _median(figures, OURS, LONGEST), figures.loads[OURS]
    work = f"unique visitors of {LONGEST} days, site and every page"
    for name in figures.loads if mine is not None else ():
        theirs = _median(figures, name, LONGEST)
        if theirs is not None and not name.startswith(OURS):
            limit = {"postgresql": 1 / 500}.get(name, 1 / 25 if name in SKETCHES else None)
            peer = NAMES[name].format(**figures.loads[name])
            assert mine is not None
            yield Row(work, mine, "ms", peer, theirs, limit, limit is not None, others=witness.share("ask"))
    off = max(most for name, (most, _) in figures.errors.items() if name.startswith(OURS))
    yield Row("… most that a count is off", off, "", limit=0.0)
    seconds, others = loaded["seconds"], witness.share(f"load {OURS}")
    cpu = figures.views / (seconds["durable cpu"] + seconds["sealing cpu"])
    yield Row(
        "views stored and sealed by a second of CPU", cpu, "", limit=200_000.0, more_is_better=True, others=others
    )
    wall = figures.views / (seconds["durable"] + seconds["sealing"])
    for name, peer in figures.loads.items():
        if not name.startswith(OURS):
            rate = figures.views / sum(peer["seconds"][step] for step in STEPS if step in peer["seconds"])
            heavier = max(others, witness.share(f"load {name}"))
            named = NAMES[name].format(**peer)
            yield Row("… a second, beside bulk loads", wall, "", named, rate, more_is_better=True, others=heavier)
    if found := figures.http:
        others = witness.share("http")
        yield Row(
            "views over HTTP, in batches", found.batches, "a second", limit=50_000.0, more_is_better=True, others=others
        )
        beacons, empty = statistics.median(found.beacons), statistics.median(found.empty)
        yield Row("single beacons", beacons, "a second", "empty view", empty, 0.8, True, True, others)
        p50 = _p(found.visitors, 0.5)
        yield Row(f"export of {LONGEST} days over HTTP, p50", p50, "ms", limit=20.0, others=others)


def _days() -> list[str]:
    return [f"{days} day{'s' * (days > 1)}" for days in WINDOWS]


def _views(figures: Figures, name: str) -> int:
    return figures.views // 10 if "tenth" in name else figures.views


def _pairs(figures: Figures, name: str) -> int:
    """Pairs of a visitor and a page, the site among the pages."""
    counts = figures.truth[TENTH if "tenth" in name else WHOLE][LONGEST]
    return int(counts[: PAGES + 1, ANY].sum())


def _median(figures: Figures, name: str, days: int) -> float | None:
    spent = figures.ms.get((name, days))
    return statistics.median(spent) if spent else None


def _ms(ms: float | None) -> str:
    return "" if ms is None else f"{ms:,.1f}" if ms < 100 else f"{ms:,.0f}"


def _p(spent: Sequence[float], share: float) -> float:
    """The value that this share of the samples does not exceed."""
    return sorted(spent)[min(len(spent) - 1, int(len(spent) * share))]
