"""Which models answer for a project: the operator's, then the fallback; none after a limit of tokens or money.

And which one judges answers. `assistant.answering.grounded` goes on to the next when one fails.
"""

from dataclasses import replace
from typing import Any

from django.conf import settings

from assistant.models import AssistantSettings
from assistant.spending.budget import explain_denial
from assistant.spending.model_prices import find_prices
from assistant.upstream import Model
from assistant.upstream.relay import Bounds, ModelChain
from docsite.core.tenants.models import Project

CONNECT_SECONDS = 5.0


def choose_models(project: Project, owner_settings: AssistantSettings) -> ModelChain:
    """The models to ask, best first. Empty without a server; empty, with a `reason`, at a limit of the project."""
    models = list_models(owner_settings)
    if models and (reason := explain_denial(project)):
        return ModelChain(reason=reason)
    return ModelChain(models, build_bounds(), settings.ENV.openai_passage_tokens)


def list_models(owner_settings: AssistantSettings) -> list[Model]:
    """The models of the environment and of a project's settings, best first."""
    env = settings.ENV
    models = []
    if env.openai_base_url:
        name = owner_settings.model or env.openai_model
        style: dict[str, Any] = {
            "temperature": owner_settings.temperature,
            "reasoning_effort": owner_settings.reasoning_effort or env.openai_reasoning_effort,
        }
        models.append(Model(env.openai_base_url, name, env.openai_api_key, **style))
        if env.openai_fallback_model:
            base_url, key = _find_server(env.openai_fallback_base_url, env.openai_fallback_api_key)
            models.append(Model(base_url, env.openai_fallback_model, key, **style))
    prices = find_prices(owner_settings.project_id, [model.name for model in models])
    return [replace(model, price=prices.get(model.name)) for model in models]


def judge_model(project: Project) -> Model | None:
    """The model of the environment that judges answers in an evaluation, if there is one."""
    env = settings.ENV
    name = env.openai_judge_model
    base_url, key = _find_server(env.openai_judge_base_url, env.openai_judge_api_key)
    price = find_prices(project.pk, [name]).get(name)
    return Model(base_url, name, key, temperature=0.0, price=price) if name else None


def _find_server(base_url: str, api_key: str) -> tuple[str, str]:
    """The address and key of the fallback model or the judge, from their own settings.

    An empty address is that of the first model. Its key goes only to that address.
    """
    env = settings.ENV
    is_elsewhere = base_url not in ("", env.openai_base_url)
    return base_url or env.openai_base_url, api_key or ("" if is_elsewhere else env.openai_api_key)


def build_bounds() -> Bounds:
    """The limits of the environment for an answer."""
    env = settings.ENV
    return Bounds(
        connect=CONNECT_SECONDS,
        first_token=env.openai_first_token_seconds,
        between_tokens=env.openai_between_tokens_seconds,
        whole_answer=env.openai_answer_seconds,
        max_tokens=env.openai_max_tokens,
        question_tokens=env.tokens_per_question,
    )
