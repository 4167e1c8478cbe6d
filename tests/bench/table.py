"""Figures to one table: each row has its target and says whether it is met.

The targets are those for one relay process on one core. A figure that misses its target is marked with `!`.
"added" means: less what the reader of the bare model server waits.
"""

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.bench import summary
from tests.bench.measure import WITHOUT, Figures
from tests.bench.others import Witness

BARE, FLOOR, LITELLM = "no relay", "Starlette", "LiteLLM"
STOCK = "stock Django"
FIRST, LIGHT, PACED = "time to first token", "20 × 20 tokens/s", "10 × 200 tokens/s"  # parts of a run
V1, V2, SOCKET, UVICORN = "Daphne v1", "Daphne v2", "Daphne socket", "uvicorn"
COLUMNS = (BARE, FLOOR, LITELLM, V1, V2, SOCKET, UVICORN)
DAPHNE, OURS = (V1, V2, SOCKET), (V1, V2, SOCKET, UVICORN)
HTTP = (V1, V2, UVICORN)

Value = Callable[[str], float | None]


@dataclass(frozen=True)
class Target:
    """At most `limit`, or `limit` times what `against` has. Judged for the columns of ours that are named."""

    limit: float
    against: str = ""
    ours: Sequence[str] = OURS


@dataclass(frozen=True)
class Row:
    """One measure. `value` gives a column's figure; None where it was not measured."""

    what: str
    value: Value
    targets: Sequence[Target] = ()
    digits: int = 1


def percentile(values: Sequence[float], share: float) -> float | None:
    """That of `summary`; None without samples."""
    return summary.percentile(values, share) if values else None


def rows(figures: Figures, readers: int, streams: int, stall: float) -> list[Row]:
    """The rows, in the order of the targets."""

    def samples(measure: str, column: str) -> list[float]:
        return figures.samples.get((measure, column), [])

    def at(measure: str, share: float) -> Value:
        return lambda column: percentile(samples(measure, column), share)

    def added(measure: str, share: float, bare_share: float | None = None) -> Value:
        def value(column: str) -> float | None:
            own = percentile(samples(measure, column), share)
            bare = percentile(samples(measure, BARE), bare_share or share)
            return own if own is None or bare is None or column == BARE else max(0.0, own - bare)

        return value

    def most(measure: str) -> Value:
        return lambda column: max(samples(measure, column), default=None)

    def middle(measure: str) -> Value:
        return lambda column: statistics.median(samples(measure, column)) if samples(measure, column) else None

    def per(measure: str, count: str, scale: float) -> Value:
        def value(column: str) -> float | None:
            counted = sum(samples(count, column))
            spent = sum(samples(measure, column))
            return scale * spent / counted if counted and spent else None

        return value

    bare_p50 = 0.5  # the waiting time of no relay is so short that its tail is only noise
    return [
        Row("added time to first token, without retrieval, p50 ms", added(WITHOUT, 0.5, bare_p50)),
        Row(
            "… p95 ms",
            added(WITHOUT, 0.95, bare_p50),
            [Target(1 / 3, LITELLM, DAPHNE), Target(2.5, FLOOR, [UVICORN])],
        ),
        Row("… with retrieval, p50 ms", added("first token", 0.5, bare_p50), [Target(1.0, LITELLM)]),
        Row("… with retrieval, p95 ms", added("first token", 0.95, bare_p50), [Target(1.2, LITELLM)]),
        Row("added per token, 20 × 20 tokens/s, p50 ms", added("light delay", 0.5), [Target(0.4)], 2),
        Row("… p95 ms", added("light delay", 0.95), [Target(3)], 2),
        Row("… CPU per 1,000 tokens, ms", per("light cpu s", "light tokens", 1e6), (), 0),
        Row("added per token, 10 × 200 tokens/s, p50 ms", added("paced delay", 0.5), [Target(0.4)], 2),
        Row("… p95 ms", added("paced delay", 0.95), [Target(3)], 2),
        Row("… p99 ms", added("paced delay", 0.99), [Target(10)], 2),
        Row(
            "… CPU per 1,000 tokens, ms",
            per("paced cpu s", "paced tokens", 1e6),
            [Target(70), Target(1 / 4, LITELLM)],
            0,
        ),
        Row(f"{streams} × 20 tokens/s, added p95 ms", added("crowd delay", 0.95), [Target(25)]),
        Row("… streams lost", most("crowd lost streams"), [Target(0)], 0),
        Row("… tokens lost", most("crowd lost tokens"), [Target(0)], 0),
        Row("… share of the core", most("crowd core"), (), 2),
        Row("saturated tokens/s", middle("saturated tokens/s"), (), 0),
        Row("… CPU per 1,000 tokens, ms", middle("saturated cpu"), (), 0),
        Row("memory per open stream, KB", most("memory"), [Target(64, ours=HTTP), Target(32, ours=[SOCKET])], 0),
        Row("reader gone before the first token, p95 ms", at("gone before", 0.95), [Target(50)]),
        Row("… further tokens, most", most("bought before"), [Target(1)], 0),
        Row("reader gone after it, p95 ms", at("gone after", 0.95), [Target(50)]),
        Row("… further tokens, most", most("bought after"), [Target(1)], 0),
        Row(
            "keyed JSON request, CPU ms (search, empty project)",
            per("json cpu s", "json requests", 1e3),
            [Target(0.6, STOCK, [V1, UVICORN])],
            2,
        ),
        Row("keyed search of the documentation, CPU ms", per("search cpu s", "search requests", 1e3), (), 2),
        Row(f"{readers} stalled readers, {stall:.0f} s: growth, MB", most("stall growth MB"), [Target(50)], 0),
        Row("… another stream before, p95 ms", at("delay before stall", 0.95)),
        Row("… another stream meanwhile, p95 ms", at("delay in stall", 0.95), [Target(1.5, "before")]),
    ]


# Rows of the summary: a row's name, or its position below one; the name there; the peers; the limit of the ratio to the
# first of them; the part of the run.
_SUMMARY: Sequence[tuple[str, int, str, Sequence[str], float | None, str]] = (
    (
        "added time to first token",
        1,
        "time to first token, p95, nothing to search",
        (LITELLM, FLOOR),
        1 / 3,
        FIRST,
    ),
    ("added time to first token", 2, "… p50, with retrieval (no peer retrieves)", (LITELLM, FLOOR), 1.0, FIRST),
    ("added time to first token", 3, "… p95, with retrieval (no peer retrieves)", (LITELLM, FLOOR), 1.2, FIRST),
    ("added per token, 20", 1, "added per token, p95, 20 × 20 tokens/s", (LITELLM, FLOOR), None, LIGHT),
    ("added per token, 20", 2, "CPU per 1,000 tokens, 20 × 20 tokens/s", (LITELLM, FLOOR), None, LIGHT),
    ("added per token, 10", 1, "added per token, p95, 10 × 200 tokens/s", (FLOOR,), None, PACED),
    ("added per token, 10", 3, "CPU per 1,000 tokens, 10 × 200 tokens/s", (LITELLM, FLOOR), 1 / 4, PACED),
    ("memory per open stream", 0, "memory of an open stream", (LITELLM, FLOOR), None, "memory"),
    ("keyed JSON request", 0, "CPU of a keyed JSON request", (STOCK,), 0.6, "keyed JSON"),
    ("keyed search", 0, "CPU of a keyed search of the documentation", (), None, "keyed JSON"),
)
_LIMITS = {
    "added per token, p95, 10 × 200 tokens/s": 3.0,
    "CPU per 1,000 tokens, 10 × 200 tokens/s": 70.0,
    "memory of an open stream": 64.0,
}


def summarize(all_rows: Sequence[Row], witness: Witness) -> Iterator[summary.Row]:
    """HTTP version 2 beside each peer; for the keyed requests version 1, which has them."""
    for start, below, work, peers, limit, part in _SUMMARY:
        place = next(number for number, row in enumerate(all_rows) if row.what.startswith(start)) + below
        row = all_rows[place]
        unit = "KB" if part == "memory" else "ms"
        ours = row.value(V1 if part == "keyed JSON" else V2)
        if ours is None:
            continue
        others = witness.share(part)
        if work in _LIMITS:
            yield summary.Row(work, ours, unit, limit=_LIMITS[work], others=others)
        for number, peer in enumerate(peers):
            if (theirs := row.value(peer)) is not None:
                allowed = None if number else limit
                yield summary.Row(work, ours, unit, peer, theirs, allowed, allowed is not None, others=others)
        if not peers:
            yield summary.Row(work, ours, unit, others=others)


def render(all_rows: Iterable[Row], figures: Figures) -> str:
    """The table, in Markdown."""
    lines = [["", *COLUMNS, "ratio", "target", "met"]]
    before: Row | None = None
    for row in all_rows:
        values = {column: row.value(column) for column in COLUMNS}
        if all(value is None for value in values.values()):
            continue  # left out of this run
        missed: set[str] = set()
        ratios, targets, verdicts = [], [], []
        for target in row.targets:
            measured = {c: v for c in target.ours if (v := values[c]) is not None}
            base = _base(target, row, before)
            allowed = {c: target.limit * b for c in measured if (b := base(c)) is not None}
            bad = [c for c in allowed if measured[c] > allowed[c] + slack(target)]
            missed |= set(bad)
            if target.against:
                worst = max((measured[c] / b for c in allowed if (b := base(c))), default=None)
                ratios.append("" if worst is None else f"{worst:.2f} of {target.against}")
                more = f" + {slack(target):g}" if slack(target) else ""
                targets.append(f"{_share(target.limit)} of {target.against}{more}")
            else:
                targets.append(f"{target.limit:g}")
            verdicts.append("not measured" if not allowed else "missed" if bad else "met")
        cells = [_cell(values[c], row.digits, c in missed) for c in COLUMNS]
        lines.append([row.what, *cells, "; ".join(filter(None, ratios)), "; ".join(targets), "; ".join(verdicts)])
        before = row
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    table = "\n".join(_line(cells, widths) for cells in lines)
    stock = [
        f"{name} {1e3 * sum(spent) / sum(count):.2f} ms"
        for name in (STOCK, "stock without key")
        if (spent := figures.samples.get(("json cpu s", name), []))
        and (count := figures.samples.get(("json requests", name), []))
    ]
    notes = [f"keyed JSON request on Daphne: {', '.join(stock)}."] if stock else []
    return "\n".join([table, "", *(f"- {note}" for note in [*notes, *figures.notes])])


def slack(target: Target) -> float:
    """What no reader notices: milliseconds by which a stream beside stalled ones may slow down in any case."""
    return 5.0 if target.against == "before" else 0.0


def _base(target: Target, row: Row, before: Row | None) -> Value:
    """What a column's figure is compared with."""
    if not target.against:
        return lambda column: 1.0
    if target.against == "before" and before:
        return before.value
    return lambda column: row.value(target.against)


def _share(limit: float) -> str:
    return f"1/{1 / limit:.0f}" if limit < 0.5 else f"{limit:g}"


def _cell(value: float | None, digits: int, missed: bool) -> str:
    return "" if value is None else f"{value:,.{digits}f}{' !' if missed else ''}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (
        cell.ljust(width) if i in (0, len(widths) - 1) or i > len(COLUMNS) else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return f"| {first} | {' | '.join(rest)} |"
