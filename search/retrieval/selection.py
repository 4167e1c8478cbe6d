"""The best sections for a search: candidates from the search engine, scored, at most a few of a page."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from search.models import Section
from search.postings.search_index import Candidate
from search.retrieval import ranking
from search.retrieval.plan import SearchPlan
from search.text import references

CANDIDATES = 100  # sections that are compared with each other
MORE_CANDIDATES = (400, 1600)  # fetched only where the first ones are all of a few pages
MAX_NAMESAKES = 20  # sections whose name is the query, beside the likeliest
MAX_OTHERS = 3  # further sections of a page that are kept with its best
LEAD_ODDS = 0.1  # of those of a page's best section, for the one whose heading holds the whole query
WHOLE = 0.99  # share of a query, by rarity, that a heading holds with all of its words
MIN_EXACT_NAME = 12  # letters of a heading that nobody types by chance
SELECTED_SCORE = 0.8  # the minimum score of a section that holds what the reader selected


class ScoredSection(NamedTuple):
    """A candidate with its features, in the order of `ranking.FEATURES`, and its score.

    `round` is 0 for the first candidates and more for those that were added later. `others` are further sections of
    its page. With `is_promoted`, the owner's settings put it first.
    """

    candidate: Candidate
    features: NDArray[np.float64]
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
        further = [candidate for candidate in plan.index.find(plan.query, count) if candidate.document_id not in pages]
        # These were compared with fewer sections, so they come after the others.
        ceiling = min(section.score for section in best)
        scored += [
            section._replace(score=min(section.score, ceiling), round=number) for section in _score(plan, further)
        ]
        best = _select(_keep_one_kind(plan, scored), limit, per_page)
    return keep_pages(plan, best, scored, limit) if plan.is_for_answer else _promote(plan, best, limit)


def _promote(plan: SearchPlan, best: list[ScoredSection], limit: int) -> list[ScoredSection]:
    """The best sections, first that of the page which the owner promotes, if it passes the filter."""
    if not plan.promoted_path:
        return best
    here = [section for section in best if section.candidate.path == plan.promoted_path]
    if not here:
        here = sorted(_score(plan, _load_page(plan, plan.promoted_path)), key=_order)[:1]
    others = [section for section in best if section.candidate.path != plan.promoted_path]
    score = max((section.score for section in [*here, *others]), default=0.0)
    return [*(section._replace(score=score, is_promoted=True) for section in here), *others][:limit]


def keep_pages(
    plan: SearchPlan, best: list[ScoredSection], scored: Sequence[ScoredSection], limit: int
) -> list[ScoredSection]:
    """The best sections, with one of the reader's page, and one of the first page that the last answer cites.

    Each may take the place of the last page.
    """
    for path in (plan.preferences.current_path, *plan.cited_paths[:1]):
        here = [section for section in _keep_one_kind(plan, scored) if section.candidate.path == path]
        if not here or any(section.candidate.path == path for section in best):
            continue
        pages = list(dict.fromkeys(section.candidate.document_id for section in best))[: limit - 1]
        best = [*(section for section in best if section.candidate.document_id in pages), min(here, key=_order)]
    return best


def _may_be_about(plan: SearchPlan, here: Sequence[Candidate]) -> bool:
    """Whether a question may be about the reader's page, which else adds no passages."""
    is_meant = plan.only_current_page or plan.selected or plan.query.is_about_context
    return bool(is_meant) or references.may_mean_page(plan.question) or is_about(plan, here)


def is_about(plan: SearchPlan, sections: Iterable[Candidate]) -> bool:
    """Whether one of the sections holds a word of the question; True for a question without any word of its own."""
    words = [
        [spelling for spelling, _ in term.spellings]
        for term in plan.query.terms
        if term.weight == 1.0 and not term.is_minor
    ]
    return not words or any(plan.index.holds(section.place, word) for section in sections for word in words)


def score_candidates(plan: SearchPlan) -> list[ScoredSection]:
    """The first candidates with their scores, in no order.

    Sections whose name is just what the reader typed, those of the reader's page and of pages that the
    last answer cites, are always among them. For an answer, the reader's page must have to do with the question.
    """
    candidates = plan.index.find(plan.query, CANDIDATES)
    if len(candidates) == CANDIDATES and (names := plan.query.names):
        by_name = replace(plan.query, facets=[*plan.query.facets, names])
        candidates += plan.index.find(by_name, MAX_NAMESAKES)
    for path in plan.cited_paths:
        candidates += _load_page(plan, path)
    if plan.preferences.current_path:
        here = _load_page(plan, plan.preferences.current_path)
        if not plan.is_for_answer or _may_be_about(plan, here):
            candidates += here
    if plan.meaning:
        near = plan.index.load_sections(plan.meaning.find_nearest(plan.project))
        candidates += plan.index.filter(near, plan.query.facets)
    return _score(plan, list({candidate.section_id: candidate for candidate in candidates}.values()))


def _load_page(plan: SearchPlan, path: str) -> list[Candidate]:
    """The first sections of a page, if it passes the filter."""
    on_page = Section.objects.on_page(plan.project, path).values_list("pk", flat=True)[:CANDIDATES]
    return plan.index.filter(plan.index.load_sections(list(on_page)), plan.query.facets)


def _score(plan: SearchPlan, candidates: Sequence[Candidate]) -> list[ScoredSection]:
    ids = [candidate.section_id for candidate in candidates]
    likeness = plan.meaning.compare(plan.project, ids) if plan.meaning else {}
    rows = ranking.compute_features(plan.index, plan.query, candidates, plan.preferences, likeness)
    model = ranking.PASSAGE_MODEL if plan.is_for_answer else ranking.MODEL
    scores = model.score(rows, np.array([candidate.boost for candidate in candidates]))
    exact = set(plan.selected)  # these hold what the reader selected, or the question is a name of theirs
    if plan.is_for_answer and len(plan.query.name) >= MIN_EXACT_NAME:
        exact.update(compress(ids, rows[:, ranking.EXACT].tolist()))
    if exact:
        scores = [max(score, SELECTED_SCORE) if pk in exact else score for pk, score in zip(ids, scores, strict=True)]
    return list(map(ScoredSection, candidates, rows, scores))


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
    """The best sections, equal scores in the order of the site. If `per_page` is 1, each has others of its page.

    The translations of a page count as one page, for which the best of them stands.
    """
    pages: dict[int, list[ScoredSection]] = {}
    best: list[ScoredSection] = []
    chosen: dict[str, int] = {}  # the pages of the best, by their paths without language
    for section in sorted(scored, key=_order) if per_page > 1 else _lead_by_heading(scored):
        page = section.candidate.document_id
        pages.setdefault(page, []).append(section)
        path = _remove_language(section.candidate)
        if chosen.get(path, page) == page and (path in chosen or len(chosen) < limit) and len(pages[page]) <= per_page:
            best.append(section)
            chosen[path] = page
    if per_page > 1:
        return best
    return [section._replace(others=pages[section.candidate.document_id][1 : 1 + MAX_OTHERS]) for section in best]


def _lead_by_heading(scored: Sequence[ScoredSection]) -> list[ScoredSection]:
    """The sections, best first, each page with the section first whose heading holds the whole query, if one does.

    It gets the score of the page's best section, unless that is much likelier.
    """
    leads: dict[int, ScoredSection] = {}
    others: list[ScoredSection] = []
    for section in sorted(scored, key=_order):
        page = section.candidate.document_id
        best = leads.setdefault(page, section)
        holds_more = section.features[ranking.HEADING] >= WHOLE > best.features[ranking.HEADING]
        if holds_more and _odds(section.score) >= LEAD_ODDS * _odds(best.score):
            leads[page] = section._replace(score=best.score, round=best.round)
            section = best
        if section is not leads[page]:
            others.append(section)
    return [*sorted(leads.values(), key=_order), *sorted(others, key=_order)]


def _odds(score: float) -> float:
    return score / max(1 - score, 1e-4)


def _remove_language(candidate: Candidate) -> str:
    """The path of a page without the folder of its language. That is the same for all translations of the page."""
    path = f"{candidate.path.lower().rstrip('/')}/"  # the front page of a language is its folder
    before, folder, after = path.partition(f"/{candidate.language.lower() or None}/")
    return f"{before}/{after}" if folder else path


def _order(section: ScoredSection) -> tuple[float, int, str, int]:
    return -section.score, section.round, section.candidate.path, section.candidate.position
