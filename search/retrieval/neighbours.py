"""The sections around a passage on its page, which often hold the rest of an answer."""

from collections.abc import Iterator, Sequence

from docsite.core.tenants.models import Project
from search.models import Section
from search.retrieval import index_state
from search.retrieval.selection import ScoredSection

STEPS = (1, -1, 2)  # on the page, relative to a passage: the next section, the one before, the one after next


def find_neighbours(project: Project, sections: Sequence[ScoredSection], max_characters: int) -> list[ScoredSection]:
    """Sections next to the given ones, those of the first one first, each once, as many as fit.

    Each has the score of the passage that it belongs to. Sections without text are left out.
    """
    passages = {(one.candidate.document_id, one.candidate.position) for one in sections}
    wanted = list(dict.fromkeys(place for place in _places_around(sections) if place not in passages))
    pages = {page for page, _ in wanted}
    positions = {position for _, position in wanted}
    rows = Section.objects.filter(document__in=pages, position__in=positions).exclude(text="")
    found = {(page, position): (pk, len(body)) for pk, page, position, body in
             rows.values_list("pk", "document_id", "position", "body")}  # fmt: skip
    scores = {one.candidate.document_id: one.score for one in reversed(sections)}
    chosen: dict[int, float] = {}
    for place in wanted:
        pk, size = found.get(place, (0, 0))
        if pk and size <= max_characters:
            chosen[pk] = scores[place[0]]
            max_characters -= size
    candidates = index_state.load_candidates(project, list(chosen))
    return [ScoredSection(one, (), chosen[one.section_id]) for one in candidates]


def _places_around(sections: Sequence[ScoredSection]) -> Iterator[tuple[int, int]]:
    """Page and position of each neighbour, the nearest of all passages first."""
    for step in STEPS:
        for one in sections:
            yield one.candidate.document_id, one.candidate.position + step
