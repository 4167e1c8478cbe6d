"""Search a staged index before readers see it, to check it."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from docsite.core import context
from search.text.vocabulary import IndexVocabulary


@dataclass(frozen=True, eq=False)
class StagedIndex:
    """An index that an ingest has built and not swapped in yet.

    `build` marks its new pages. `replaced` holds the ids of visible pages that the swap takes out. `segments` lists its
    segments, as `Index.segments` does.
    """

    project_id: int
    build: str
    replaced: Sequence[int]
    vocabulary: IndexVocabulary
    segments: bytes


_searched: ContextVar[StagedIndex | None] = ContextVar("staged_index", default=None)


def search_in(staged: StagedIndex) -> AbstractContextManager[Any]:
    """Within the block, searches of this context find the staged index. Redirects are still those that readers see."""
    return context.bind(_searched, staged)


def staged_index() -> StagedIndex | None:
    """The staged index that this context searches; None means the index that readers see."""
    return _searched.get()
