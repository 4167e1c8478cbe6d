"""The sections around a passage on its page, which often hold the rest of an answer."""

from collections.abc import Iterator, Mapping, Sequence

from search.retrieval.stored_pages import Place, StoredPage

STEPS = (1, -1, 2)  # on the page, relative to a passage: the next section, the one before, the one after next


def list_places(passages: Sequence[Place]) -> list[Place]:
    """The places beside the passages, the nearest of all passages first, each once."""
    around = ((page, position + step) for step in STEPS for page, position in passages)
    return [place for place in dict.fromkeys(around) if place not in passages]


def choose(pages: Mapping[int, StoredPage], places: Sequence[Place], max_characters: int) -> Iterator[Place]:
    """The first of the places whose sections have at most `max_characters` of Markdown together, and some text."""
    for page, position in places:
        section = pages[page].sections.get(position)
        if section and section.text and len(section.body) <= max_characters:
            max_characters -= len(section.body)
            yield page, position
