"""The one pipeline behind every door: a valid question of a known caller to its events."""

from collections.abc import AsyncGenerator

from django.conf import settings

from assistant import answering
from assistant.answering import Question, Retrieved
from assistant.events import Event
from assistant.models import Message
from assistant.schemas import Ask
from assistant.threads import StoredConversation, open_conversation
from assistant.upstream import Model
from docsite.db import in_db
from docsite.projects.models import Project
from search import index


async def ask(
    project: Project, body: Ask, caller: Message.Caller
) -> tuple[StoredConversation, AsyncGenerator[Event, None]]:
    """Store the question; return its conversation and the events of its answer, which begin when read."""
    question = body.question(project.support_url)
    conversation = await in_db(open_conversation)(
        project, body.fp, body.threadId, question.text, caller, question.current_path
    )

    async def retrieve(question: Question, query: str) -> Retrieved:
        return await in_db(_retrieve)(project, question, query)

    return conversation, answering.answer(question, conversation, retrieve, configured_model())


def configured_model() -> Model | None:
    """The model server of the settings, if any."""
    env = settings.ENV
    return Model(env.openai_base_url, env.openai_model, env.openai_api_key) if env.openai_base_url else None


def _retrieve(project: Project, question: Question, query: str) -> Retrieved:
    hits = index.find_passages(
        project,
        query,
        filters=question.filters,
        limit=question.page_size,
        context=[item.value for item in question.context],
        current_path=question.current_path or None,
    )
    scope: dict[str, object] = {"pages": project.documents.count()}
    if question.filters.version:
        scope["version"] = question.filters.version
    if project.indexed_at:
        scope["indexedAt"] = project.indexed_at.isoformat()
    return Retrieved(hits, scope)
