"""Search for readers: pages that match a query. The assistant's search is `search.retrieval.passages`."""

from collections.abc import Sequence

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.hits import Filters, Hit, SectionMatch
from search.retrieval import selection
from search.retrieval.excerpts import Highlighters
from search.retrieval.plan import SearchPlan, plan_search
from search.retrieval.selection import ScoredSection
from search.retrieval.stored_pages import load_sections, read_sections

MIN_OTHER_SCORE = 0.02  # for another section of a page, to be listed with the page's best


def find(
    project: Project, query: str, *, filters: Filters = Filters(), limit: int = 10, threshold: float = 0.0
) -> list[Hit]:
    """The best pages for a query, each by its best section, best first, with scores at or above the threshold.

    The page that the owner promotes for the query comes first, whatever its score.
    """
    with snapshot():
        plan = plan_search(project, query, filters)
        ranked = selection.rank(plan, limit)
        sections = [section for section in ranked if section.score >= threshold or section.is_promoted]
        return build_hits(plan, sections)


def build_hits(plan: SearchPlan, sections: Sequence[ScoredSection]) -> list[Hit]:
    """The sections as hits, in the same order, with excerpts. Call it in the database snapshot of the search."""
    scores = {section.candidate.section_id: section.score for section in sections}
    others = _load_others(plan.project, sections)
    loaded = load_sections(plan.project, list(scores))
    highlighters = Highlighters(plan.query.marks)
    hits = []
    for pk, score in scores.items():
        page, section = loaded[pk]
        excerpt, highlights = page.build_excerpt(section.text, highlighters)
        hits.append(page.build_hit(section, score, excerpt, others.get(pk, ()), highlights=highlights))
    return hits


def _load_others(project: Project, sections: Sequence[ScoredSection]) -> dict[int, tuple[SectionMatch, ...]]:
    """For each section, by id, the other sections of its page that match too and have a heading of their own."""
    ids = [
        other.candidate.section_id for section in sections for other in section.others if other.score >= MIN_OTHER_SCORE
    ]
    rows = {pk: row for pk, *row in read_sections("section.id, heading, anchor, address", ids) if row[0]}
    others = {}
    for section in sections:
        by_url: dict[str, SectionMatch] = {}  # a long section is stored as several with one heading
        for other in section.others:
            if other.candidate.section_id in rows:
                heading, anchor, address = rows[other.candidate.section_id]
                url = project.url_of(section.candidate.path, anchor, address)
                by_url.setdefault(url, SectionMatch(heading, url, other.score))
        others[section.candidate.section_id] = tuple(by_url.values())
    return others
