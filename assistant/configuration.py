"""What `answering` gets from the settings and from a site's owner: models, bounds, and the search for passages."""

from django.conf import settings

from assistant.answering.pipeline import ModelChain, Retrieve, Retrieved
from assistant.conversations.token_usage import count_tokens_of_today
from assistant.models import AssistantSettings
from assistant.question import Question
from assistant.upstream import Model
from assistant.upstream.relay import Bounds
from docsite.core.db import in_db
from docsite.core.tenants.models import Project
from search.retrieval.passages import find_passages


def model_chain(project: Project, owner_settings: AssistantSettings) -> ModelChain:
    """The models of the settings. None of them when the project has used up its tokens of the day."""
    env = settings.ENV
    models = []
    if env.openai_base_url:
        name = owner_settings.model or env.openai_model
        models.append(Model(env.openai_base_url, name, env.openai_api_key, owner_settings.temperature))
        if env.openai_fallback_model:
            is_elsewhere = env.openai_fallback_base_url not in ("", env.openai_base_url)
            key = env.openai_fallback_api_key or ("" if is_elsewhere else env.openai_api_key)
            base_url = env.openai_fallback_base_url or env.openai_base_url
            models.append(Model(base_url, env.openai_fallback_model, key, owner_settings.temperature))
    if models and count_tokens_of_today(project) >= env.daily_tokens_per_project:
        return ModelChain(reason="the project's daily token limit is reached")
    return ModelChain(models, _bounds())


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


def passage_search(project: Project) -> Retrieve:
    """The search for passages of one project, as the pipeline calls it."""

    async def search(question: Question) -> Retrieved:
        return await in_db(retrieve)(project, question)

    return search


def retrieve(project: Project, question: Question) -> Retrieved:
    """The passages for a question, and what was searched."""
    passages = find_passages(
        project,
        question.text,
        filters=question.filters,
        limit=question.page_size,
        context=[item.value for item in question.context],
        current_path=question.current_path or next((item.path for item in question.context if item.path), ""),
        previous_questions=question.previous_questions,
    )
    scope: dict[str, object] = {"pages": project.documents.count()}
    if question.filters.version:
        scope["version"] = question.filters.version
    if passages.indexed_at:
        scope["indexedAt"] = passages.indexed_at.isoformat()
    return Retrieved(passages.hits, passages.chance, scope)
