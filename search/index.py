"""Find sections: the one door to search, for the endpoint, the pages and the assistant."""

import re
from collections import Counter
from collections.abc import Sequence

from docsite.db import snapshot
from docsite.projects.models import Project
from search import analysis, backends, ranking
from search.hits import Filters, Hit
from search.models import Document, Section
from search.terms import Query, facet

CANDIDATES = (100, 400, 1600)
CONTEXT_WEIGHT = 0.3
MOST_CONTEXT_TERMS = 24
EXCERPT_LENGTH = 280


def find(
    project: Project, query: str, *, filters: Filters = Filters(), limit: int = 10, threshold: float = 0.0
) -> list[Hit]:
    """The best pages for a query, each by its best section, best first, scores at or above the threshold."""
    hits = _sections(project, query, filters, most=1, limit=limit)
    return [hit for hit in hits if hit.score >= threshold]


def find_passages(
    project: Project,
    query: str,
    *,
    filters: Filters = Filters(),
    limit: int = 5,
    context: Sequence[str] = (),
    current_path: str | None = None,
) -> list[Hit]:
    """The best sections to answer from, at most two of a page, best first.

    Words of `context` (selected text, code) count less than the question's. The
    page that the reader is on, and pages beside it, are preferred.
    """
    return _sections(project, query, filters, most=2, limit=limit, context=context, current_path=current_path)


@snapshot()
def _sections(
    project: Project,
    text: str,
    filters: Filters,
    *,
    most: int,
    limit: int,
    context: Sequence[str] = (),
    current_path: str | None = None,
) -> list[Hit]:
    """The best sections, at most `most` of a page, all of one state of the index."""
    engine = backends.current()
    facets, languages = _facets(project, filters)
    query: Query = analysis.query_terms(text, languages)
    extra = _context_terms(project, context, languages, query)
    weights = [1.0] * len(query) + [CONTEXT_WEIGHT] * len(extra)
    query = [*query, *extra]
    sections, found = engine.frequencies(project, _spellings(query))
    for wanted_candidates in CANDIDATES:  # more only where a few pages hold all of the first ones
        entries = engine.candidates(project, query, facets, wanted_candidates)
        features = ranking.rank(query, weights, entries, sections, found)
        scores = {entry.section_id: known.score() for entry, known in zip(entries, features, strict=True)}
        best = _fold(scores, most, limit, current_path)
        if len(best) == limit or len(entries) < wanted_candidates:
            break
    rows = Section.objects.select_related("document").in_bulk(list(best))
    wanted = set(_spellings(query))
    return [_hit(project, rows[pk], score, wanted) for pk, score in best.items()]


def _context_terms(
    project: Project, context: Sequence[str], languages: tuple[str, ...], query: Query
) -> list[tuple[str, ...]]:
    """The rarest terms of the context that the index holds and the question does not."""
    if not context:
        return []
    terms = analysis.query_terms(" ".join(context), languages)
    _, found = backends.current().frequencies(project, _spellings(terms))
    counts = {term: sum(found.get(spelling, 0) for spelling in term) for term in terms if term not in query}
    return sorted((term for term in counts if counts[term]), key=lambda term: counts[term])[:MOST_CONTEXT_TERMS]


def _fold(scores: dict[int, float], most: int, limit: int, current_path: str | None) -> dict[int, float]:
    """Section ids with their scores, best first, at most `most` of a page; equal scores in the order of the site."""
    places = Section.objects.filter(pk__in=scores).values_list("pk", "position", "document__path")
    ranked = sorted((-round(_near(scores[pk], path, current_path), 4), path, at, pk) for pk, at, path in places)
    taken: Counter[str] = Counter()
    best: dict[int, float] = {}
    for negative, path, _, pk in ranked:
        if len(best) == limit:
            break
        if taken[path] < most:
            taken[path] += 1
            best[pk] = -negative
    return best


def _near(score: float, path: str, current_path: str | None) -> float:
    """Raise the odds of the page the reader is on, and a little those of its neighbours."""
    if not current_path:
        return score
    odds = score / (1 - score)
    if path == current_path:
        odds *= 2.5
    elif path.rsplit("/", 1)[0] == current_path.rsplit("/", 1)[0]:
        odds *= 1.3
    return odds / (1 + odds)


def _spellings(query: Query) -> list[str]:
    return [spelling for term in query for spelling in term]


def _facets(project: Project, filters: Filters) -> tuple[list[list[str]], tuple[str, ...]]:
    """The facet terms a section must have, and the languages whose stemmers the query needs.

    A page without version or language is neutral: it belongs to each of them.
    """
    documents = Document.objects.filter(project=project)
    languages = tuple(
        sorted({(language or "en")[:2] for language in documents.values_list("language", flat=True).distinct()})
    )
    facets = []
    version = filters.version
    if version and version.lower() == "latest":
        known = documents.exclude(version="").values_list("version", flat=True).distinct()
        version = max(known, key=_version_key, default=None)
    if version:
        facets.append([facet("v", version), facet("v", "")])
    if filters.language:
        facets.append([facet("l", filters.language), facet("l", "")])
    if filters.tag:
        facets.append([facet("t", filters.tag)])
    return facets, languages or ("en",)


def _version_key(version: str) -> list[tuple[int, int, str]]:
    """Order versions by their numbers: 0.9 before 0.12, and names before numbers."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", version.lower())
    return [(1, int(part), "") if "0" <= part[0] <= "9" else (0, 0, part) for part in parts]


def _hit(project: Project, row: Section, score: float, wanted: set[str]) -> Hit:
    document = row.document
    return Hit(
        path=document.path,
        url=project.url_of(document.path, row.anchor),
        title=document.title,
        section=row.heading or document.title,
        breadcrumb=(document.title, *row.trail),
        body=row.body,
        excerpt=excerpt(row.text or document.description or document.title, wanted, document.language or "en"),
        score=score,
        anchor=row.anchor,
        version=document.version or None,
        language=document.language or None,
        tags=tuple(document.tags),
    )


def excerpt(text: str, wanted: set[str], language: str = "en") -> str:
    """The stretch of a text that holds most of the wanted terms, cut at words."""
    flat = re.sub(r"\s+", " ", text).strip()
    if len(flat) <= EXCERPT_LENGTH:
        return flat
    spots = [
        match.start()
        for match in re.finditer(r"\S+", flat)
        if wanted.intersection(analysis.terms(match.group(), language))
    ]
    start = max(spots, key=lambda spot: sum(spot <= other < spot + EXCERPT_LENGTH - 40 for other in spots), default=0)
    start = max(0, start - 40)
    if start:
        start = flat.find(" ", start) + 1
    piece = flat[start : start + EXCERPT_LENGTH]
    if start + EXCERPT_LENGTH < len(flat):
        piece = piece.rsplit(" ", 1)[0] + "…"
    return ("…" if start else "") + piece
