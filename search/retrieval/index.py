"""Find sections: the door to search, for the endpoint and the pages; the assistant's is `search.retrieval.passages`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import connection

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search import backends
from search.backends.local import Copy
from search.hits import Filters, Hit, Other
from search.models import Document, Section
from search.retrieval import index_state, parsing, ranking
from search.retrieval.excerpts import Marker, excerpt
from search.retrieval.links import page_of
from search.text.terms import Query, facet

NAMED = 0.02  # what another section of a page must score to be named with it
NAMESAKES = 20  # sections of one name that are looked at beside the likeliest
OTHERS = 3  # sections of a page that are named beside its best
NEAR_THE_BEST = 0.6  # the share of the best score that a further section of a page must have
VERBATIM = 12  # letters of a heading that nobody types by chance
POINTED = 0.8  # the least score of a section that holds what the reader points at
CORE = 100  # candidates that are compared with each other
_SHOWN = (
    *("pk", "heading", "anchor", "trail", "body", "text"),
    *("document__" + name for name in ("path", "title", "description", "version", "language", "tags", "address")),
)
MORE = (400, 1600)  # looked at only where a few pages hold all of the first ones


@dataclass(frozen=True)
class Asked:
    """A search made ready: what to look for, and what the reader would rather have."""

    project: Project
    query: Query
    preferred: ranking.Preferred
    copy: Copy | None = None  # of the index, where it is large
    is_for_answer: bool = False
    only_here: bool = False  # whether it is about the page that the reader is on
    pointed: frozenset[int] = frozenset()  # sections that hold what the reader points at


@dataclass(frozen=True)
class Found:
    """A candidate, what is known of it, and its score."""

    candidate: ranking.Candidate
    features: Sequence[float]
    score: float
    round: int = 0  # in which it was looked at
    others: Sequence["Found"] = ()  # further sections of its page


def find(
    project: Project, query: str, *, filters: Filters = Filters(), limit: int = 10, threshold: float = 0.0
) -> list[Hit]:
    """The best pages for a query, each by its best section, best first, scores at or above the threshold."""
    with snapshot():
        asked = ask(project, query, filters)
        found = [one for one in rank(asked, limit) if one.score >= threshold]
        return hits_of(asked, found)


def ask(
    project: Project,
    text: str,
    filters: Filters = Filters(),
    context: Sequence[str] = (),
    current_path: str = "",
    lead: str = "",
) -> Asked:
    """Read a query as the index can answer it. This and what follows belong inside one snapshot.

    Where the filter says nothing, readers want the language and the version of
    the page that they are on, else the front page's language and the latest version.
    """
    known = index_state.of(project)
    version = known.latest if (filters.version or "").lower() == "latest" else filters.version
    languages = (filters.language[:2].lower(), "en") if filters.language else known.languages
    query = parsing.parse(text, known.vocabulary, languages, _facets(filters, version), context, lead)
    here = _facets_of(project, current_path) if current_path else ("", "")
    if here is None:  # the reader may have come by an address that the page had before
        current_path = page_of(project, current_path)
        here = _facets_of(project, current_path)
    language_here, version_here = here or ("", "")
    preferred = ranking.Preferred(
        (filters.language or language_here or known.home).lower(),
        "" if version else (version_here or known.latest).lower(),
        current_path,
    )
    return Asked(project, query, preferred, known.copy)


def rank(asked: Asked, limit: int, most: int = 1) -> list[Found]:
    """The best sections, at most `most` of a page, best first; one more of a page must come near the very best."""
    found = _of_one_kind(asked, examine(asked))
    best = _fold(found, limit, most)
    for number, wanted in enumerate(MORE, 1):
        if len(best) == limit or len(found) < CORE:
            break
        pages = {one.candidate.document_id for one in found}
        further = [one for one in _candidates(asked, wanted) if one.document_id not in pages]
        floor = min(one.score for one in best)  # what was compared with fewer does not come before the others
        found += [replace(one, score=min(one.score, floor), round=number) for one in _scored(asked, further)]
        best = _fold(_of_one_kind(asked, found), limit, most)
    return best


def examine(asked: Asked) -> list[Found]:
    """The candidates, with what is known of each and their scores, in no order.

    What is called just as the reader typed is always one of them.
    """
    candidates = _candidates(asked, CORE)
    if len(candidates) == CORE and asked.query.name:
        called = replace(asked.query, facets=[*asked.query.facets, [facet("n", asked.query.name)]])
        known = {one.section_id for one in candidates}
        named = _candidates(replace(asked, query=called), NAMESAKES)
        candidates += [one for one in named if one.section_id not in known]
    if asked.preferred.near:
        known = {one.section_id for one in candidates}
        here = Section.objects.on_page(asked.project, asked.preferred.near)
        rows = here.values_list("pk", "document__version", "document__language", "document__tags")[:CORE]
        ids = [pk for pk, *page in rows if pk not in known and _lets_in(asked.query, *page)]
        candidates += index_state.candidates(asked.project, ids)
    return _scored(asked, candidates)


def _candidates(asked: Asked, most: int) -> list[ranking.Candidate]:
    return index_state.candidates(asked.project, backends.candidates(asked.project, asked.query, most, asked.copy))


def _scored(asked: Asked, candidates: Sequence[ranking.Candidate]) -> list[Found]:
    rows = ranking.features(asked.query, candidates, asked.preferred)
    score = ranking.MODEL.score
    found = [Found(one, row, score(row, one.boost)) for one, row in zip(candidates, rows, strict=True)]
    if not asked.pointed and not asked.is_for_answer:
        return found
    return [replace(one, score=max(one.score, POINTED)) if _is_meant(asked, one.candidate) else one for one in found]


def _is_meant(asked: Asked, candidate: ranking.Candidate) -> bool:
    """Whether a section holds what the reader points at, or one of its names is the question, word for word."""
    if candidate.section_id in asked.pointed:
        return True
    return asked.is_for_answer and len(asked.query.name) >= VERBATIM and asked.query.name in candidate.names


def _of_one_kind(asked: Asked, found: Sequence[Found]) -> list[Found]:
    """For an answer, what is in one language and of one version, those of the best that have any, or in none.

    Where the question is about the reader's page, what is of that.
    """
    if not asked.is_for_answer:
        return list(found)
    if asked.only_here:
        return [one for one in found if one.candidate.path == asked.preferred.near]
    ordered = [one.candidate for one in sorted(found, key=lambda one: -one.score)]
    languages = ("", next((one.language for one in ordered if one.language), ""))
    versions = ("", next((one.version for one in ordered if one.version), ""))
    return [one for one in found if one.candidate.language in languages and one.candidate.version in versions]


def _fold(found: Sequence[Found], limit: int, most: int) -> list[Found]:
    """The best, at most `most` of a page; equal scores in the order of the site. One of a page knows the others.

    A further section of a page takes the place of another page only if it comes near the best.
    """
    pages: dict[int, list[Found]] = {}
    best: list[Found] = []
    for one in sorted(found, key=lambda one: (-one.score, one.round, one.candidate.path, one.candidate.position)):
        page = pages.setdefault(one.candidate.document_id, [])
        page.append(one)
        is_good = len(page) == 1 or (len(page) <= most and one.score >= NEAR_THE_BEST * best[0].score)
        if len(best) < limit and is_good:
            best.append(one)
    if most > 1:
        return best
    return [replace(one, others=pages[one.candidate.document_id][1 : 1 + OTHERS]) for one in best]


def _facets_of(project: Project, path: str) -> tuple[str, str] | None:
    """Language and version of a page; None when there is no such page."""
    return Document.objects.filter(project=project, path=path).values_list("language", "version").first()


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


def _lets_in(query: Query, version: str, language: str, tags: Sequence[str]) -> bool:
    """Whether a page is what the filter asks for, as engines see it."""
    own = {facet("v", version), facet("l", language), *(facet("t", tag) for tag in tags)}
    return all(own.intersection(alternatives) for alternatives in query.facets)


def hits_of(asked: Asked, found: Sequence[Found]) -> list[Hit]:
    """What was found, as readers get it."""
    scores = {one.candidate.section_id: one.score for one in found}
    others = _others(asked.project, found)
    sections = Section.objects.filter(pk__in=scores).values_list(*_SHOWN)  # rows are much faster than models
    rows = {row[0]: row[1:] for row in sections}
    markers: dict[str, Marker] = {}
    hits = []
    for pk, score in scores.items():
        heading, anchor, trail, body, text, path, title, description, version, language, tags, address = rows[pk]
        if language not in markers:
            markers[language] = Marker(asked.query.spellings, language or "en")
        shown, highlights = excerpt(text or description or title, markers[language])
        url = asked.project.url_of(path, anchor, address)
        hits.append(
            Hit(
                path=path,
                url=url,
                title=title,
                section=heading or title,
                breadcrumb=(title, *trail),
                body=body,
                excerpt=shown,
                highlights=highlights,
                score=score,
                anchor=anchor,
                link=asked.project.link_of(path, anchor, address),
                address=address,
                version=version or None,
                language=language or None,
                tags=tuple(tags),
                others=tuple(other for other in others.get(pk, ()) if other.url != url),
            )
        )
    return hits


def _others(project: Project, found: Sequence[Found]) -> dict[int, tuple[Other, ...]]:
    """For each section that was found, those of its page that matched too and have a heading of their own."""
    ids = [other.candidate.section_id for one in found for other in one.others if other.score >= NAMED]
    if not ids:
        return {}
    with connection.cursor() as cursor:  # asked by every search: the ORM would take seven times as long
        marks = ", ".join(["%s"] * len(ids))
        cursor.execute(
            "SELECT section.id, heading, anchor, address FROM search_section section "
            f"JOIN search_document document ON document_id = document.id "
            f"WHERE section.id IN ({marks}) AND heading <> ''",
            ids,
        )
        known = {pk: row for pk, *row in cursor.fetchall()}
    others = {}
    for one in found:
        by_url: dict[str, Other] = {}  # a long section is several under one heading
        for other in one.others:
            if other.candidate.section_id in known:
                heading, anchor, address = known[other.candidate.section_id]
                url = project.url_of(one.candidate.path, anchor, address)
                by_url.setdefault(url, Other(heading, url, other.score))
        others[one.candidate.section_id] = tuple(by_url.values())
    return others
