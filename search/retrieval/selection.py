"""The best sections for a search: candidates from the search engine, scored, at most a few of a page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import QuerySet

from docsite.core.access.readers import decode_groups
from search import backends
from search.models import Section
from search.retrieval import index_state, ranking
from search.retrieval.plan import SearchPlan
from search.retrieval.ranking import Candidate
from search.text.terms import Query, facet, group_facets

CANDIDATES = 100  # sections that are compared with each other
MORE_CANDIDATES = (400, 1600)  # fetched only where the first ones are all of a few pages
MAX_NAMESAKES = 20  # sections whose name is the query, beside the likeliest
MAX_OTHERS = 3  # further sections of a page that are kept with its best
MIN_EXACT_NAME = 12  # letters of a heading that nobody types by chance
SELECTED_SCORE = 0.8  # the minimum score of a section that holds what the reader selected


@dataclass(frozen=True)
class ScoredSection:
    """A candidate with its features, in the order of `ranking.FEATURES`, and its score.

    `round` is 0 for the first candidates and more for those that were added later. `others` are further sections of
    its page. With `is_promoted`, the owner's settings put it first.
    """

    candidate: Candidate
    features: Sequence[float]
    score: float
    round: int = 0
    others: Sequence["ScoredSection"] = ()
    is_promoted: bool = False


def rank(plan: SearchPlan, limit: int, per_page: int = 1) -> list[ScoredSection]:
    """The best sections, best first, of at most `limit` pages and at most `per_page` of a page."""
    scored = _keep_one_kind(plan, score_candidates(plan))
    best = _select(scored, limit, per_page)
    for number, count in enumerate(MORE_CANDIDATES, 1):
        if len({section.candidate.document_id for section in best}) == limit or len(scored) < CANDIDATES:
            break
        pages = {section.candidate.document_id for section in scored}
        further = [candidate for candidate in _find(plan, count) if candidate.document_id not in pages]
        # These were compared with fewer sections, so they come after the others.
        ceiling = min(section.score for section in best)
        scored += [
            replace(section, score=min(section.score, ceiling), round=number) for section in _score(plan, further)
        ]
        best = _select(_keep_one_kind(plan, scored), limit, per_page)
    return _keep_current_page(plan, best, scored, limit) if plan.is_for_answer else _promote(plan, best, limit)


def _promote(plan: SearchPlan, best: list[ScoredSection], limit: int) -> list[ScoredSection]:
    """The best sections, first that of the page which the owner promotes, if it passes the filter."""
    if not plan.promoted_path:
        return best
    here = [one for one in best if one.candidate.path == plan.promoted_path]
    if not here:
        on_page = Section.objects.on_page(plan.project, plan.promoted_path)
        here = sorted(_score(plan, _load_others(plan, on_page, ())), key=_order)[:1]
    others = [one for one in best if one.candidate.path != plan.promoted_path]
    score = max((one.score for one in [*here, *others]), default=0.0)
    return [*(replace(one, score=score, is_promoted=True) for one in here), *others][:limit]


def _keep_current_page(
    plan: SearchPlan, best: list[ScoredSection], scored: Sequence[ScoredSection], limit: int
) -> list[ScoredSection]:
    """The best sections, with one of the reader's page among them. It may take the place of the last page."""
    here = [one for one in _keep_one_kind(plan, scored) if one.candidate.path == plan.preferences.current_path]
    if not here or any(one.candidate.path == plan.preferences.current_path for one in best):
        return best
    pages = list(dict.fromkeys(one.candidate.document_id for one in best))[: limit - 1]
    return [*(one for one in best if one.candidate.document_id in pages), min(here, key=_order)]


def score_candidates(plan: SearchPlan) -> list[ScoredSection]:
    """The first candidates with their scores, in no order.

    Sections whose name is just what the reader typed, and those of the reader's page, are always among them.
    """
    candidates = _find(plan, CANDIDATES)
    if len(candidates) == CANDIDATES and plan.query.name:
        by_name = replace(plan.query, facets=[*plan.query.facets, [facet("n", plan.query.name)]])
        known = {candidate.section_id for candidate in candidates}
        namesakes = _find(replace(plan, query=by_name), MAX_NAMESAKES)
        candidates += [candidate for candidate in namesakes if candidate.section_id not in known]
    if plan.preferences.current_path:
        on_page = Section.objects.on_page(plan.project, plan.preferences.current_path)
        candidates += _load_others(plan, on_page, candidates)
    if plan.meaning:
        near = Section.objects.filter(pk__in=plan.meaning.find_nearest(plan.project))
        candidates += _load_others(plan, near, candidates)
    return _score(plan, candidates)


def _load_others(plan: SearchPlan, sections: QuerySet[Section], known: Sequence[Candidate]) -> list[Candidate]:
    """Sections that are no candidates yet, as far as they pass the filter."""
    ids = {candidate.section_id for candidate in known}
    columns = ("version", "language", "tags", "groups")
    rows = sections.values_list("pk", *(f"document__{column}" for column in columns))[:CANDIDATES]
    others = [pk for pk, *facets in rows if pk not in ids and _passes_filter(plan.query, *facets)]
    return index_state.load_candidates(plan.project, others)


def _find(plan: SearchPlan, count: int) -> list[Candidate]:
    ids = backends.candidates(plan.project, plan.query, count, plan.local_index)
    return index_state.load_candidates(plan.project, ids)


def _score(plan: SearchPlan, candidates: Sequence[Candidate]) -> list[ScoredSection]:
    ids = [candidate.section_id for candidate in candidates]
    likeness = plan.meaning.compare(plan.project, ids) if plan.meaning else {}
    rows = ranking.compute_features(plan.query, candidates, plan.preferences, likeness)
    score = (ranking.PASSAGE_MODEL if plan.is_for_answer else ranking.MODEL).score
    scored = [ScoredSection(one, row, score(row, one.boost)) for one, row in zip(candidates, rows, strict=True)]
    if not plan.selected and not plan.is_for_answer:
        return scored
    return [
        replace(section, score=max(section.score, SELECTED_SCORE))
        if _is_exact_match(plan, section.candidate)
        else section
        for section in scored
    ]


def _is_exact_match(plan: SearchPlan, candidate: Candidate) -> bool:
    """Whether a section holds what the reader selected, or one of its names is the question, word for word."""
    if candidate.section_id in plan.selected:
        return True
    return plan.is_for_answer and len(plan.query.name) >= MIN_EXACT_NAME and plan.query.name in candidate.names


def _keep_one_kind(plan: SearchPlan, scored: Sequence[ScoredSection]) -> list[ScoredSection]:
    """For an answer, only sections in the language and version of the best section, and those without any.

    Where the question is about the reader's page, only sections of that page. A heading without text answers
    nothing, so it stays only if no section has text.
    """
    if not plan.is_for_answer:
        return list(scored)
    scored = [section for section in scored if not section.candidate.is_empty] or scored
    if plan.only_current_page:
        return [section for section in scored if section.candidate.path == plan.preferences.current_path]
    ordered = [section.candidate for section in sorted(scored, key=lambda section: -section.score)]
    languages = ("", next((candidate.language for candidate in ordered if candidate.language), ""))
    versions = ("", next((candidate.version for candidate in ordered if candidate.version), ""))
    return [
        section
        for section in scored
        if section.candidate.language in languages and section.candidate.version in versions
    ]


def _select(scored: Sequence[ScoredSection], limit: int, per_page: int) -> list[ScoredSection]:
    """The best sections, equal scores in the order of the site. If `per_page` is 1, each has others of its page."""
    pages: dict[int, list[ScoredSection]] = {}
    best: list[ScoredSection] = []
    chosen: set[int] = set()  # the pages of the best
    for section in sorted(scored, key=_order):
        page = section.candidate.document_id
        pages.setdefault(page, []).append(section)
        if (page in chosen or len(chosen) < limit) and len(pages[page]) <= per_page:
            best.append(section)
            chosen.add(page)
    if per_page > 1:
        return best
    return [replace(section, others=pages[section.candidate.document_id][1 : 1 + MAX_OTHERS]) for section in best]


def _order(section: ScoredSection) -> tuple[float, int, str, int]:
    return -section.score, section.round, section.candidate.path, section.candidate.position


def _passes_filter(query: Query, version: str, language: str, tags: Sequence[str], groups: str) -> bool:
    """Whether a page has the facets that the query requires, as search engines check it."""
    facets = {facet("v", version), facet("l", language), *(facet("t", tag) for tag in tags)}
    facets.update(group_facets(decode_groups(groups)))
    return all(facets.intersection(alternatives) for alternatives in query.facets)
