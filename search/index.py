"""Find sections: the one door to search, for the endpoint, the pages and the assistant."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from docsite.db import snapshot
from docsite.projects.models import Project
from search import backends, parsing, ranking, state
from search.excerpts import Marker, excerpt
from search.hits import Filters, Hit
from search.models import Section
from search.terms import Query, facet

CORE = 100  # candidates that are compared with each other
MORE = (400, 1600)  # looked at only where a few pages hold all of the first ones


@dataclass(frozen=True)
class Asked:
    """A search made ready: what to look for, and what the reader would rather have."""

    project: Project
    query: Query
    preferred: ranking.Preferred


@dataclass(frozen=True)
class Found:
    """A candidate, what is known of it, and its score."""

    candidate: ranking.Candidate
    features: Sequence[float]
    score: float
    round: int = 0  # in which it was looked at


def find(
    project: Project, query: str, *, filters: Filters = Filters(), limit: int = 10, threshold: float = 0.0
) -> list[Hit]:
    """The best pages for a query, each by its best section, best first, scores at or above the threshold."""
    with snapshot():
        asked = ask(project, query, filters)
        found = [one for one in rank(asked, limit) if one.score >= threshold]
        return hits_of(asked, found)


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
    with snapshot():
        asked = ask(project, query, filters, context, current_path or "")
        return hits_of(asked, rank(asked, limit, most=2))


def ask(
    project: Project, text: str, filters: Filters = Filters(), context: Sequence[str] = (), current_path: str = ""
) -> Asked:
    """Read a query as the index can answer it. This and what follows belong inside one snapshot."""
    known = state.of(project)
    version = known.latest if (filters.version or "").lower() == "latest" else filters.version
    languages = (filters.language[:2].lower(), "en") if filters.language else known.languages
    query = parsing.parse(text, known.vocabulary, languages, _facets(filters, version), context)
    language = (filters.language or known.home).lower()
    return Asked(project, query, ranking.Preferred(language, "" if version else known.latest, current_path))


def rank(asked: Asked, limit: int, most: int = 1) -> list[Found]:
    """The best sections, at most `most` of a page, best first."""
    found = examine(asked)
    best = _fold(found, limit, most)
    for number, wanted in enumerate(MORE, 1):
        if len(best) == limit or len(found) < CORE:
            break
        pages = {one.candidate.document_id for one in found}
        further = [one for one in _candidates(asked, wanted) if one.document_id not in pages]
        floor = min(one.score for one in best)  # what was compared with fewer does not come before the others
        found += [replace(one, score=min(one.score, floor), round=number) for one in _scored(asked, further)]
        best = _fold(found, limit, most)
    return best


def examine(asked: Asked) -> list[Found]:
    """The candidates, with what is known of each and their scores, in no order."""
    candidates = _candidates(asked, CORE)
    if asked.preferred.near:
        known = {one.section_id for one in candidates}
        here = Section.objects.filter(
            document__project=asked.project, document__build="", document__path=asked.preferred.near
        )
        ids = [pk for pk in here.values_list("pk", flat=True)[:CORE] if pk not in known]
        candidates += state.candidates(asked.project, ids)
    return _scored(asked, candidates)


def _candidates(asked: Asked, most: int) -> list[ranking.Candidate]:
    if not asked.query.asked:
        return []
    find = backends.current().candidates
    ids = find(asked.project, asked.query, most)
    if len(ids) < most and asked.query.facets and asked.query.common:  # the rarer words may stand elsewhere only
        ids = find(asked.project, replace(asked.query, asked=asked.query.asked | asked.query.common), most)
    return state.candidates(asked.project, ids)


def _scored(asked: Asked, candidates: Sequence[ranking.Candidate]) -> list[Found]:
    rows = ranking.features(asked.query, candidates, asked.preferred)
    score = ranking.MODEL.score
    return [Found(one, row, score(row, one.boost)) for one, row in zip(candidates, rows, strict=True)]


def _fold(found: Sequence[Found], limit: int, most: int) -> list[Found]:
    """The best, at most `most` of a page; equal scores in the order of the site."""
    taken: Counter[int] = Counter()
    best: list[Found] = []
    for one in sorted(found, key=lambda one: (-one.score, one.round, one.candidate.path, one.candidate.position)):
        if len(best) == limit:
            break
        if taken[one.candidate.document_id] < most:
            taken[one.candidate.document_id] += 1
            best.append(one)
    return best


def _facets(filters: Filters, version: str | None) -> list[list[str]]:
    """The facet terms that a section must have. A page without version or language belongs to each of them."""
    facets = []
    if version:
        facets.append([facet("v", version), facet("v", "")])
    if filters.language:
        facets.append([facet("l", filters.language), facet("l", "")])
    if filters.tag:
        facets.append([facet("t", filters.tag)])
    return facets


def hits_of(asked: Asked, found: Sequence[Found]) -> list[Hit]:
    """What was found, as readers get it."""
    sections = Section.objects.select_related("document").defer("document__content", "document__aliases")
    rows = sections.in_bulk([one.candidate.section_id for one in found])
    markers = {
        language: Marker(asked.query.spellings, language or "en")
        for language in {row.document.language for row in rows.values()}
    }
    return [
        _hit(asked.project, row, one.score, markers[row.document.language])
        for one in found
        for row in [rows[one.candidate.section_id]]
    ]


def _hit(project: Project, row: Section, score: float, marker: Marker) -> Hit:
    document = row.document
    shown, highlights = excerpt(row.text or document.description or document.title, marker)
    return Hit(
        path=document.path,
        url=project.url_of(document.path, row.anchor),
        title=document.title,
        section=row.heading or document.title,
        breadcrumb=(document.title, *row.trail),
        body=row.body,
        excerpt=shown,
        highlights=highlights,
        score=score,
        anchor=row.anchor,
        version=document.version or None,
        language=document.language or None,
        tags=tuple(document.tags),
    )
