"""Search for readers: pages that match a query. The assistant's search is `search.retrieval.passages`."""

import json
from collections.abc import Sequence
from typing import Any

from django.db import connection

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.hits import Filters, Hit, SectionMatch
from search.retrieval import selection
from search.retrieval.excerpts import Highlighters
from search.retrieval.plan import SearchPlan, plan_search
from search.retrieval.selection import ScoredSection
from search.retrieval.stored_pages import StoredPage, StoredSection

MIN_OTHER_SCORE = 0.02  # for another section of a page, to be listed with the page's best
_COLUMNS = "section.id, heading, anchor, text, trail, body, path, title, description, version, language, address, tags"


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
    rows = {pk: row for pk, *row in _read_sections(_COLUMNS, list(scores))}
    highlighters = Highlighters(plan.query.marks)
    hits = []
    for pk, score in scores.items():
        heading, anchor, text, trail, body, *page_columns = rows[pk]
        page_columns[-1] = json.loads(page_columns[-1])  # tags
        page = StoredPage(plan.project, *page_columns)
        section = StoredSection(heading, anchor, text, json.loads(trail), body)
        excerpt, highlights = page.build_excerpt(section, highlighters)
        hits.append(page.build_hit(section, score, excerpt, others.get(pk, ()), highlights=highlights))
    return hits


def _load_others(project: Project, sections: Sequence[ScoredSection]) -> dict[int, tuple[SectionMatch, ...]]:
    """For each section, by id, the other sections of its page that match too and have a heading of their own."""
    ids = [
        other.candidate.section_id for section in sections for other in section.others if other.score >= MIN_OTHER_SCORE
    ]
    rows = {pk: row for pk, *row in _read_sections("section.id, heading, anchor, address", ids) if row[0]}
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


def _read_sections(columns: str, ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """Columns of some sections and their pages. The ORM would take seven times as long, and every search runs this."""
    if not ids:
        return []
    with connection.cursor() as cursor:
        marks = ", ".join(["%s"] * len(ids))
        cursor.execute(
            f"SELECT {columns} FROM search_section section JOIN search_document document "
            f"ON document_id = document.id WHERE section.id IN ({marks})",
            ids,
        )
        return list(cursor.fetchall())
