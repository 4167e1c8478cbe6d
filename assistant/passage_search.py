"""Searches the passages for a question, as the answering pipeline calls it."""

from assistant.answering.pipeline import Retrieve, Retrieved
from assistant.question import Question
from docsite.core.db import in_db
from docsite.core.tenants.models import Project
from search.retrieval.passages import find_passages

CHARACTERS_PER_TOKEN = 4  # of English; prompts count other texts more exactly


def build_search(project: Project) -> Retrieve:
    """Build the search of one project. It runs in a worker thread."""

    async def search(question: Question, passage_tokens: int) -> Retrieved:
        return await in_db(find)(project, question, passage_tokens)

    return search


def find(project: Project, question: Question, passage_tokens: int = 0) -> Retrieved:
    """The passages for a question, with neighbours up to a number of tokens, and what was searched."""
    passages = find_passages(
        project,
        question.text,
        filters=question.filters,
        limit=question.page_size,
        context=[item.value for item in question.context],
        current_path=question.current_path or next((item.path for item in question.context if item.path), ""),
        previous_questions=question.previous_questions,
        max_characters=CHARACTERS_PER_TOKEN * passage_tokens,
    )
    scope: dict[str, object] = {"pages": project.documents.count()}
    if question.filters.version:
        scope["version"] = question.filters.version
    if passages.indexed_at:
        scope["indexedAt"] = passages.indexed_at.isoformat()
    return Retrieved(passages.hits, passages.chance, scope, passages.neighbours)
