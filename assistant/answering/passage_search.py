"""Searches the pages of one project, as the answering pipeline asks for it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from assistant.answering.prompts import SMALL_BUDGET
from assistant.answering.question import Question
from assistant.answering.retriever import Retrieved
from docsite.core.db import SEARCHES, in_db
from docsite.core.tenants.models import Project
from search.hits import Filters, PageText
from search.retrieval import page_reading
from search.retrieval.passages import find_passages

_in_searches = partial(in_db, pool=SEARCHES)
CHARACTERS_PER_TOKEN = 4  # of English; prompts count other texts more exactly, and shorten long ones of a small budget


@dataclass
class PassageSearch:
    """The search of one project, as `assistant.answering.retriever.Retriever`. `wrap` makes a function asynchronous."""

    project: Project
    wrap: Callable[[Callable[..., Any]], Callable[..., Awaitable[Any]]] = _in_searches

    async def search(self, question: Question, passage_tokens: int) -> Retrieved:
        """The passages for a question, found in a worker thread."""
        retrieved: Retrieved = await self.wrap(find)(self.project, question, passage_tokens)
        return retrieved

    async def read_page(self, path: str, filters: Filters) -> PageText | None:
        """A page, read in a worker thread."""
        page: PageText | None = await self.wrap(page_reading.read_page)(self.project, path, filters)
        return page


def find(project: Project, question: Question, passage_tokens: int = 0, *, uses_meaning: bool = True) -> Retrieved:
    """The passages for a question, with neighbours up to a number of tokens, and what was searched."""
    passages = find_passages(
        project,
        question.text,
        filters=question.filters,
        limit=question.page_size,
        context=[item.value for item in question.context],
        current_path=question.current_path or next((item.path for item in question.context if item.path), ""),
        previous_questions=question.previous_questions,
        cited_paths=[project.path_of(address) for address in question.cited_addresses],
        max_characters=CHARACTERS_PER_TOKEN * passage_tokens * (2 if passage_tokens <= SMALL_BUDGET else 1),
        uses_meaning=uses_meaning,
    )
    scope: dict[str, object] = {"pages": passages.page_count}
    if question.filters.version:
        scope["version"] = question.filters.version
    if passages.indexed_at:
        scope["indexedAt"] = passages.indexed_at.isoformat()
    return Retrieved(passages.hits, passages.chance, scope, passages.neighbours, passages.is_foreign)
