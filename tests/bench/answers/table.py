"""Figures to Markdown tables with the targets. `!` marks what misses its target."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from tests.bench.answers.measure import Answer, Figures
from tests.bench.others import Witness
from tests.bench.search.table import render
from tests.bench.summary import Row, percentile
from tests.training import metrics

OWN_REFUSED = 0.05  # at most
PRECISION = 0.90  # at least
HTTP_MS = {1: 60.0, 8: 300.0}  # p95 to the first text without a model, by clients
LISTED = 15

KINDS = ("question", "sentence", "keyword")
GROUPS: dict[str, Callable[[Answer], bool]] = {
    "qa": lambda one: one.query.source == "qa",
    "faq": lambda one: one.query.source == "faq",
    "all questions": lambda one: one.query.kind == "question",
    "sentences": lambda one: one.query.kind == "sentence",
    "keywords": lambda one: one.query.kind == "keyword",
}
_INFORMATION = ("sentences", "keywords")  # no targets


def sources(figures: Figures) -> str:
    """The right pages among an answer's sources, beside those that search finds. A refusal has no sources."""
    lines = [["own queries", "n", "refused", "source recall", "search recall@5", "any source right",
              "any of search's first 5", "first source right", "search's first"]]  # fmt: skip
    for group, belongs in GROUPS.items():
        some = [answer for answer in figures.answers if answer.own and belongs(answer)]
        if not some:
            continue
        recall = [_mean(metrics.recall(answer.sources, answer.query.relevant) for answer in some)]
        recall.append(_mean(metrics.recall(answer.searched, answer.query.relevant) for answer in some))
        anywhere = [_mean(bool(set(answer.sources) & set(answer.query.relevant)) for answer in some)]
        anywhere.append(_mean(bool(set(answer.searched) & set(answer.query.relevant)) for answer in some))
        first = [_mean(metrics.success(answer.sources, answer.query.relevant) for answer in some)]
        first.append(_mean(metrics.success(answer.searched, answer.query.relevant) for answer in some))
        missed = group not in _INFORMATION and recall[0] < recall[1]
        cells = [f"{value:.3f}" for value in (*recall, *anywhere, *first)]
        refused = str(sum(answer.refused for answer in some))
        lines.append([group, str(len(some)), refused, cells[0] + " !" * missed, *cells[1:]])
    lines.append(["target for questions", "", "", "search's", *[""] * 5])
    return render(lines)


def answers(figures: Figures) -> str:
    """How much an answer to an own query is, and whether it quotes the section that is called like the question."""
    lines = [["own queries answered", "n", "sources, mean", "words, mean", "words, p95", "section quoted"]]
    for group, belongs in GROUPS.items():
        some = [answer for answer in figures.answers if answer.own and belongs(answer)]
        given = [answer for answer in some if not answer.refused]
        if not given:
            continue
        sizes = [len(answer.text.split()) for answer in given]
        named = [answer.quoted for answer in some if answer.quoted is not None]
        lines.append([
            group, str(len(given)), f"{_mean(len(answer.sources) for answer in given):.1f}", f"{_mean(sizes):.0f}",
            f"{percentile(sizes, 0.95):.0f}", f"{_mean(named):.3f} of {len(named)}" if named else "",
        ])  # fmt: skip
    return render(lines)


def refusals(figures: Figures) -> str:
    """What is refused, and how many refusals are right where as many foreign as own queries are asked."""
    lines = [["refusals", "own", "own refused", "foreign", "foreign refused", "precision"]]
    for kind in KINDS:
        own = [answer.refused for answer in figures.answers if answer.query.kind == kind and answer.own]
        foreign = [answer.refused for answer in figures.answers if answer.query.kind == kind and not answer.own]
        if not own or not foreign:
            continue
        share, right = _mean(own), _mean(foreign)
        precision = right / (share + right) if share + right else 1.0
        judged = kind == "question"
        lines.append([
            f"{kind}s", str(len(own)), f"{share:.3f}" + " !" * (judged and share > OWN_REFUSED), str(len(foreign)),
            f"{right:.3f}", f"{precision:.3f}" + " !" * (judged and precision < PRECISION),
        ])  # fmt: skip
    lines.append(["target for questions", "", f"≤ {OWN_REFUSED:.2f}", "", "", f"≥ {PRECISION:.2f}"])
    return render(lines)


def links(figures: Figures) -> str:
    """The citations of all answers, also to foreign queries, and how many lead wrong."""
    found = [reason for answer in figures.answers for _, reason in answer.faults]
    marked = sum(":~:" in url for answer in figures.answers for url, _ in answer.faults)
    failed = sum(map(bool, found))
    counts = Counter(filter(None, found))
    lines = [["citations", "n", "share", "target"]]
    lines.append(["of all answers", str(len(found)), "", ""])
    lines.append(["that mark words", str(marked), f"{marked / max(1, len(found)):.3f}", ""])
    lines.append(["that lead wrong", f"{failed}{' !' * (failed > 0)}", f"{failed / max(1, len(found)):.4f}", "0"])
    lines += [[f"- {reason}", str(count), "", ""] for reason, count in counts.most_common()]
    return render(lines)


def http(figures: Figures) -> str:
    """Milliseconds over HTTP, one process on one core, with the shipped weights."""
    lines = [["over HTTP, ms p50 / p95", "answers", "per second", "first event", "first text", "end", "target"]]
    for one in figures.http:
        limit = HTTP_MS[one.clients] if one.mode == figures.http[0].mode else None
        missed = limit is not None and percentile(one.text, 0.95) > limit
        lines.append([
            f"{one.mode}, {one.clients} client{'s' * (one.clients > 1)}", str(len(one.whole)),
            f"{len(one.whole) / one.seconds:.0f}", _pair(one.first), _pair(one.text) + " !" * missed, _pair(one.whole),
            "" if limit is None else f"first text p95 {limit:.0f}",
        ])  # fmt: skip
    return render(lines)


def summarize(figures: Figures, witness: Witness) -> Iterator[Row]:
    """Questions of all sets: sources, refusals, links; then the time to the first text."""
    own = [answer for answer in figures.answers if answer.own and answer.query.kind == "question"]
    foreign = [answer for answer in figures.answers if not answer.own and answer.query.kind == "question"]
    if own:
        recall = _mean(metrics.recall(answer.sources, answer.query.relevant) for answer in own)
        searched = _mean(metrics.recall(answer.searched, answer.query.relevant) for answer in own)
        yield Row("answers without a model, source recall", recall, "", "search@5", searched, 1.0, True, True)
        share = _mean(answer.refused for answer in own)
        yield Row("questions to the set refused", share, "", limit=OWN_REFUSED)
        right = _mean(answer.refused for answer in foreign)
        precision = right / (share + right) if share + right else 1.0
        yield Row("precision of refusals", precision, "", limit=PRECISION, more_is_better=True)
        wrong = sum(bool(reason) for answer in figures.answers for _, reason in answer.faults)
        yield Row("citations that lead wrong", wrong, "", limit=0.0)
    for figure in figures.http:
        p95 = percentile(figure.text, 0.95)
        limit = HTTP_MS[figure.clients] if figure.mode == figures.http[0].mode else None
        work = f"first text of an answer {figure.mode}, {figure.clients} client{'s' * (figure.clients > 1)}, p95"
        yield Row(work, p95, "ms", limit=limit, others=witness.share("http"))


def worst(figures: Figures) -> str:
    """What went wrong and how: the surest mistakes first. Keywords tell too little to be called wrong."""
    chances = figures.chances
    wrong = sorted(chances, key=lambda key: chances[key])
    answers = {(answer.set, answer.query.id): answer for answer in figures.answers}
    lists = []
    for kind in KINDS[:2]:
        found = [(f"{chances[key]:.2f} {_told(answers[key])}", answers[key]) for key in wrong]
        refused = [line for line, one in found if one.own and one.query.kind == kind]
        accepted = [line for line, one in reversed(found) if not one.own and one.query.kind == kind]
        lists += [_listed(f"Own {kind}s refused", refused), _listed(f"Foreign {kind}s answered", accepted)]
    unquoted = [answer for answer in figures.answers if answer.quoted is False]
    bad = [(answer, url, reason) for answer in figures.answers for url, reason in answer.faults if reason]
    lists.append(
        _listed("Sections not quoted", [f"{_told(one)}: {', '.join(one.sources) or 'refused'}" for one in unquoted])
    )
    lists.append(_listed("Citations that lead wrong", [f"{reason}: {_told(one)}: {url}" for one, url, reason in bad]))
    return "\n\n".join(lists)


def _listed(head: str, items: Sequence[str]) -> str:
    return "\n".join([f"{head}: {len(items)}", *(f"- {item}" for item in items[:LISTED])])


def _told(one: Answer) -> str:
    return f"{one.set}: “{one.query.text}” ({one.query.source} of {one.query.set})"


def _mean(values: Iterable[float]) -> float:
    return metrics.mean(list(values)) or 0.0


def _pair(spent: Sequence[float]) -> str:
    return f"{percentile(spent, 0.5):.0f} / {percentile(spent, 0.95):.0f}"
