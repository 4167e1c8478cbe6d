"""Figures to Markdown tables: ours beside its peers, its lead over the best of them, and the targets.

`!` marks a figure of ours that misses its target. The best peer is the best one in that column.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.bench.others import Witness
from tests.bench.search.engines import MINISEARCH, OURS
from tests.bench.search.measure import Answer, Figures
from tests.bench.summary import Row, percentile
from tests.training import metrics
from tests.training.data import Query

Measure = Callable[[Sequence[str], dict[str, int]], float]


@dataclass(frozen=True)
class Column:
    """The mean of a measure over some queries; ours must reach `least`, and `lead` more than the best peer."""

    title: str
    of: Callable[[Query], bool]
    measure: Measure = metrics.ndcg
    least: float | None = None
    lead: float | None = None

    def value(self, answers: Iterable[Answer]) -> float | None:
        """None where no query is of this kind."""
        return metrics.mean([self.measure(a.pages, a.query.relevant) for a in answers if self.of(a.query)])


def reciprocal_rank(pages: Sequence[str], relevant: dict[str, int], depth: int = 10) -> float:
    """1 over the place of the first right page; 0 when there is none."""
    return next((1 / place for place, page in enumerate(pages[:depth], 1) if page in relevant), 0.0)


def judged(query: Query) -> bool:
    """Whether it counts for quality in total: all but the identifiers."""
    return query.kind != "identifier"


def kind(name: str, variant: str | None = "") -> Callable[[Query], bool]:
    """Queries of a kind, as they were written if no variant is named."""
    return lambda query: query.kind == name and query.variant == variant


def derived(variant: str) -> Callable[[Query], bool]:
    """Queries that were derived in this way, identifiers aside."""
    return lambda query: judged(query) and query.variant == variant


QUALITY = (
    Column("nDCG@10", judged, least=0.80, lead=0.04),
    Column("recall@5", judged, metrics.recall, 0.88),
    Column("first right", judged, metrics.success, 0.68),
    Column("MRR@10", judged, reciprocal_rank),
    Column("question", kind("question")),
    Column("sentence", kind("sentence")),
    Column("keyword", kind("keyword")),
    Column("typo", derived("typo"), least=0.70),
    Column("prefix", derived("prefix"), least=0.77),
    Column("id. exact", kind("identifier"), least=0.96),
    Column("id. split", kind("identifier", "split"), least=0.89),
    Column("id. dropped", kind("identifier", "dropped"), least=0.96),
)
SET_LEAD = -0.01
ENGINE_MS, ENGINE_SHARE = 10.0, 0.5  # p95, and its share of MiniSearch's
HTTP_MS = {1: 25.0, 8: 80.0}
LARGE_MS = {"plain": 15.0, "facet": 15.0}
BUILD = 2_000.0  # sections a second
ECE = 0.05


def quality(figures: Figures) -> str:
    """Every measure in total, by kind of query and by variant."""
    return _compared("all sets", QUALITY, figures)


def sets(figures: Figures) -> str:
    """nDCG@10 of each set."""
    names = list(dict.fromkeys(answer.query.set for answer in figures.answers[OURS]))
    columns = [
        Column(name, lambda query, name=name: judged(query) and query.set == name, lead=SET_LEAD) for name in names
    ]
    return _compared("nDCG@10", columns, figures)


def _compared(head: str, columns: Sequence[Column], figures: Figures) -> str:
    columns = [column for column in columns if column.value(figures.answers[OURS]) is not None]
    values = {engine: [column.value(answers) for column in columns] for engine, answers in figures.answers.items()}
    peers = [row for engine, row in values.items() if engine != OURS]
    best = [max((row[i] or 0.0 for row in peers), default=None) for i in range(len(columns))]
    ours = values[OURS]
    leads = [None if b is None or o is None else o - b for o, b in zip(ours, best, strict=True)]
    missed = [
        (column.least is not None and (own or 0.0) < column.least)
        or (column.lead is not None and lead is not None and lead < column.lead)
        for column, own, lead in zip(columns, ours, leads, strict=True)
    ]
    lines = [[head, *(column.title for column in columns)]]
    for engine, row in values.items():
        marks = missed if engine == OURS else [False] * len(row)
        lines.append([engine, *(_number(value, 3) + " !" * bad for value, bad in zip(row, marks, strict=True))])
    lines.append(["ours − best peer", *("" if lead is None else f"{lead:+.3f}" for lead in leads)])
    lines.append(["target", *map(_target, columns)])
    return render(lines)


def _target(column: Column) -> str:
    least = "" if column.least is None else f"{column.least:.2f}"
    return ", ".join(filter(None, [least, "" if column.lead is None else f"lead {column.lead:+.2f}"]))


def order(figures: Figures) -> str:
    """What must hold of every list of ours, and how well its scores are probabilities."""
    answers = figures.answers[OURS]
    scored = [
        (score, page in answer.query.relevant)
        for answer in answers
        if judged(answer.query)
        for page, score in zip(answer.pages, answer.scores, strict=True)
    ]
    error = metrics.calibration_error(scored)
    counts = {
        "scores that rise down a list": sum(
            later > earlier for a in answers for earlier, later in zip(a.scores, a.scores[1:], strict=False)
        ),
        "scores outside 0..1": sum(not 0 <= score <= 1 for a in answers for score in a.scores),
        "pages twice in a list": sum(len(a.pages) - len(set(a.pages)) for a in answers),
        "pages against the filter": sum(not fits(a.query.filter, facets) for a in answers for facets in a.facets),
    }
    lines = [["ours", "value", "target"]]
    lines.append([f"calibration error, {len(scored)} results", f"{error:.3f}" + " !" * (error > ECE), f"{ECE:.2f}"])
    lines += [[what, f"{count}{' !' * (count > 0)}", "0"] for what, count in counts.items()]
    return render(lines)


def fits(wanted: dict[str, str] | None, facets: dict[str, object]) -> bool:
    """Whether a page may answer a filtered query: where it has a value, that is the wanted one. Tags it must have."""
    for name, value in (wanted or {}).items():
        has = facets[name]
        if name == "tag" and isinstance(has, list):
            if value.lower() not in [str(tag).lower() for tag in has]:
                return False
        elif has and str(has).lower() != value.lower() and value.lower() != "latest":
            return False
    return True


def latency(figures: Figures) -> str:
    """Milliseconds of one query inside each engine's process, p50 and p95."""
    names = list(dict.fromkeys(answer.query.set for answer in figures.answers[OURS]))
    lines = [["ms of a query, p50 / p95", "all sets", *names]]
    tail: dict[str, float] = {}
    for engine, answers in figures.answers.items():
        spent = [[a.ms for a in answers if name in (None, a.query.set)] for name in [None, *names]]
        tail[engine] = percentile(spent[0], 0.95)
        lines.append([engine, *map(_pair, spent)])
    limit = min(ENGINE_MS, ENGINE_SHARE * tail.get(MINISEARCH, 2 * ENGINE_MS))
    lines[1][1] += " !" * (tail[OURS] > limit)
    half = f" and half of {MINISEARCH}" if MINISEARCH in tail else ""
    lines.append([f"target p95: {ENGINE_MS:.0f}{half}", f"{limit:.2f}", *[""] * len(names)])
    return render(lines)


def build(figures: Figures) -> str:
    """Sections a second. Ours reads and cuts the Markdown files, the peers get ready sections."""
    speeds = {engine: sum(n for n, _ in built) / sum(s for _, s in built) for engine, built in figures.build.items()}
    large = {engine: built[0] / built[1] for engine, built in figures.large_build.items()}
    lines = [["sections/s", "the sets", "large site", "target"]]
    for engine in dict.fromkeys([*speeds, *large]):
        ours = engine.startswith(OURS)
        cells = [
            "" if speed is None else f"{speed:,.0f}" + " !" * (ours and speed < BUILD)
            for speed in (speeds.get(engine), large.get(engine))
        ]
        lines.append([engine, *cells, f"{BUILD:,.0f}" if ours else ""])
    return render(lines)


def http(figures: Figures) -> str:
    """Our service over HTTP, one process on one core."""
    lines = [["over HTTP", "searches", "per second", "p50 ms", "p95 ms", "target", "nDCG@10, shipped weights"]]
    for clients, answers in figures.http.items():
        spent = [answer.ms for answer in answers]
        p95 = percentile(spent, 0.95)
        lines.append([
            f"{clients} client{'s' * (clients > 1)}",
            str(len(spent)),
            f"{len(spent) / figures.http_seconds[clients]:.0f}",
            f"{percentile(spent, 0.5):.1f}",
            f"{p95:.1f}" + " !" * (p95 > HTTP_MS[clients]),
            f"p95 {HTTP_MS[clients]:.0f}",
            _number(QUALITY[0].value(answers), 3),
        ])  # fmt: skip
    return render(lines)


def large(figures: Figures) -> str:
    """Milliseconds on the large site."""
    lines = [["ms on the large site, p50 / p95", "sections", "plain", "one version", "target p95"]]
    for engine, (sections, _) in figures.large_build.items():
        ours = engine.startswith(OURS)
        cells = []
        for what, limit in LARGE_MS.items():
            spent = figures.large.get((engine, what), [])
            cells.append(_pair(spent) + " !" * (ours and bool(spent) and percentile(spent, 0.95) > limit))
        targets = ", ".join(f"{limit:.0f}" for limit in LARGE_MS.values()) if ours else ""
        lines.append([engine, f"{sections:,}", *cells, targets])
    return render(lines)


def summarize(figures: Figures, witness: Witness) -> Iterator[Row]:
    """The quality of each set beside its best peer, then times."""
    answers = figures.answers
    for name in dict.fromkeys(answer.query.set for answer in answers.get(OURS, [])):
        column = Column(name, lambda query, name=name: judged(query) and query.set == name)
        values = {engine: column.value(found) or 0.0 for engine, found in answers.items()}
        ours = values.pop(OURS)
        best = max(values, key=lambda engine: values[engine], default="")
        yield Row(f"search, nDCG@10, {name}", ours, "", best, values.get(best), more_is_better=True)
    for share in (0.5, 0.95) if OURS in answers else ():
        spent = {engine: percentile([a.ms for a in found], share) for engine, found in answers.items()}
        others, work = witness.share("ask"), f"search in the engine, p{share * 100:.0f}"
        ours = spent.pop(OURS)
        yield Row(work, ours, "ms", limit={0.5: 4.0, 0.95: 8.0}[share], others=others)
        for peer in (MINISEARCH, "tantivy en_stem", "FTS5 porter"):
            if peer in spent:
                yield Row(work, ours, "ms", peer, spent[peer], others=others)
    for clients, found in figures.http.items():
        p95 = percentile([answer.ms for answer in found], 0.95)
        work = f"search over HTTP, {clients} client{'s' * (clients > 1)}, p95"
        yield Row(work, p95, "ms", limit={1: 25.0, 8: 60.0}[clients], others=witness.share("http"))
    built = figures.build[OURS]
    speed = sum(sections for sections, _ in built) / sum(seconds for _, seconds in built)
    yield Row(
        "sections read and indexed", speed, "a second", limit=BUILD, more_is_better=True, others=witness.share("build")
    )


def _pair(spent: Sequence[float]) -> str:
    return f"{percentile(spent, 0.5):.2f} / {percentile(spent, 0.95):.2f}" if spent else ""


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def render(lines: list[list[str]]) -> str:
    """A Markdown table: the first column to the left, the rest to the right."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    ruler = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(_row(line, widths) for line in [lines[0], ruler, *lines[1:]])


def _row(line: list[str], widths: list[int]) -> str:
    cells = [line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]
    return f"| {' | '.join(cells)} |"
