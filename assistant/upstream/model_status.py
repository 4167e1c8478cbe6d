"""Who writes the answers: a sentence for start-up."""

import asyncio
from dataclasses import replace

from django.conf import settings

from assistant.models import AssistantSettings
from assistant.upstream import Model, UpstreamError, formats
from assistant.upstream.check import try_out
from assistant.upstream.model_choice import build_bounds, list_models

MAX_SECONDS = 10.0  # for the whole answer


def describe() -> str:
    """Whether a model is set, without asking it."""
    env = settings.ENV
    if not env.openai_base_url:
        return "quoted from the pages; no model is set (OPENAI_BASE_URL)"
    return f"by the model {env.openai_model} at {env.openai_base_url}"


def try_model() -> str:
    """The same, after one short request that shows whether the model answers."""
    try:
        seconds = measure()
    except UpstreamError as failure:
        return f"quoted from the pages, since {describe().removeprefix('by ')} does not answer now: {failure}"
    return describe() if seconds is None else f"{describe()}, which answered in {seconds:.1f} s"


def measure() -> float | None:
    """Seconds until the first model has answered a short request; None without one. Raises `UpstreamError`."""
    models = list_models(AssistantSettings())
    return asyncio.run(_measure(models[0])) if models else None


async def _measure(model: Model) -> float:
    """Seconds until a model has answered. Raises `UpstreamError`."""
    bounds = replace(build_bounds(), whole_answer=MAX_SECONDS, max_tokens=16)
    try:
        return (await try_out(model, [{"role": "user", "content": "Say: ready."}], bounds)).seconds
    finally:
        await formats.close()
