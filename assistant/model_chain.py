"""Which models answer for a project: the operator's, then the fallback; none after the daily limit of tokens."""

from django.conf import settings

from assistant.answering.pipeline import ModelChain
from assistant.conversations.daily_token_limit import is_limit_reached
from assistant.models import AssistantSettings
from assistant.upstream import Model
from assistant.upstream.relay import Bounds
from docsite.core.tenants.models import Project


def choose_models(project: Project, owner_settings: AssistantSettings) -> ModelChain:
    """The models to ask, best first. None when no server is configured, or when the project's tokens are used up."""
    models = list_models(owner_settings)
    if models and is_limit_reached(project):
        return ModelChain(reason="the project's daily token limit is reached")
    return ModelChain(models, build_bounds(), settings.ENV.openai_passage_tokens)


def list_models(owner_settings: AssistantSettings) -> list[Model]:
    """The models of the environment and of a project's settings, best first."""
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
    return models


def build_bounds() -> Bounds:
    """The limits of the environment for an answer."""
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
