"""Models, bounds and retrieval as the settings and a site's owner have them: what `answering` is given."""

from django.conf import settings

from assistant.answering.pipeline import Ladder, Retrieve, Retrieved
from assistant.conversations.token_usage import count_tokens_of_today
from assistant.models import AssistantSettings
from assistant.question import Question
from assistant.upstream import Model
from assistant.upstream.relay import Bounds
from docsite.core.db import in_db
from docsite.core.tenants.models import Project
from search.retrieval.passages import find_passages


def ladder(project: Project, told: AssistantSettings) -> Ladder:
    """The model servers of the settings, as far as the project may still use them today."""
    env = settings.ENV
    models = []
    if env.openai_base_url:
        name = told.model or env.openai_model
        models.append(Model(env.openai_base_url, name, env.openai_api_key, told.temperature))
        if env.openai_fallback_model:
            elsewhere = env.openai_fallback_base_url not in ("", env.openai_base_url)
            key = env.openai_fallback_api_key or ("" if elsewhere else env.openai_api_key)
            base = env.openai_fallback_base_url or env.openai_base_url
            models.append(Model(base, env.openai_fallback_model, key, told.temperature))
    if models and count_tokens_of_today(project) >= env.daily_tokens_per_project:
        return Ladder(reason="the project's daily token limit is reached")
    return Ladder(models, _bounds())


def _bounds() -> Bounds:
    env = settings.ENV
    return Bounds(
        connect=env.openai_connect_seconds,
        first_token=env.openai_first_token_seconds,
        between_tokens=env.openai_between_tokens_seconds,
        whole_answer=env.openai_answer_seconds,
        size=env.openai_answer_kib * 1024,
        max_tokens=env.openai_max_tokens,
        breaker_failures=env.openai_breaker_failures,
        breaker_rest=env.openai_breaker_seconds,
    )


def retrieval(project: Project) -> Retrieve:
    """How an answer finds its passages."""

    async def found(question: Question) -> Retrieved:
        return await in_db(retrieve)(project, question)

    return found


def retrieve(project: Project, question: Question) -> Retrieved:
    """The passages for a question, and over what was searched."""
    found = find_passages(
        project,
        question.text,
        filters=question.filters,
        limit=question.page_size,
        context=[item.value for item in question.context],
        current_path=question.current_path or next((item.path for item in question.context if item.path), ""),
        previous_questions=question.lead,
    )
    scope: dict[str, object] = {"pages": project.documents.count()}
    if question.filters.version:
        scope["version"] = question.filters.version
    if found.indexed_at:
        scope["indexedAt"] = found.indexed_at.isoformat()
    return Retrieved(found.hits, found.chance, scope)
