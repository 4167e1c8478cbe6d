"""Every server that people use: the relay reads its streams, its refusals and its errors."""

import logging
import uuid
from typing import Any

import pytest

from assistant.upstream import Delta, EndOfText, Model, Usage, formats, openai, relay
from assistant.upstream.errors import LONG_PROMPT, WRONG_KEY
from assistant.upstream.relay import Bounds, StreamFailure
from tests.dialects import ANSWER, DIALECTS

OPTIONAL = {"max_tokens", "temperature", "stream_options", "reasoning_effort"}

pytestmark = pytest.mark.parametrize("name", DIALECTS)


@pytest.fixture
def model(upstream: Any, name: str, monkeypatch: Any) -> Model:
    """A model of the dialect, of which nothing is known yet."""
    monkeypatch.setattr(openai, "_refused", {})
    return Model(
        f"{upstream.url}/{name}{DIALECTS[name].base}", "fake", "sk-fake", temperature=0.2, reasoning_effort="low"
    )


async def ask(model: Model, mode: str = "happy") -> tuple[list[Any], str]:
    """The items of an answer, and the word by which its requests are found."""
    marker = uuid.uuid4().hex
    messages = [{"role": "user", "content": f"fake:{mode} {marker}"}]
    items = [item async for item in relay.stream(model, messages, Bounds())]
    await formats.close()
    return items, marker


async def test_a_server_of_each_kind_is_understood(model, name, upstream, caplog):
    dialect = DIALECTS[name]
    items, marker = await ask(model)
    text = "".join(item.text for item in items if isinstance(item, Delta))
    assert text == "".join(ANSWER), "and none of its thoughts"
    assert EndOfText("stop") in items
    counted = [item for item in items if isinstance(item, Usage)]
    assert set(counted) == ({Usage(812, 21, dialect.reasoning_tokens)} if dialect.counts_tokens else set())

    *refused, last = upstream.asked(marker)
    taken = OPTIONAL - dialect.refused.keys()
    expected = taken | ({"max_completion_tokens"} if "max_tokens" in dialect.refused else set())
    assert last.keys() & {*OPTIONAL, "max_completion_tokens"} == expected
    assert len(refused) == len(OPTIONAL & dialect.refused.keys())
    assert len(caplog.records) == bool(refused)

    items, marker = await ask(model)
    assert len(upstream.asked(marker)) == 1, "what it refuses is remembered"


async def test_a_prompt_that_is_too_long_is_named_in_the_log(model, upstream, caplog):
    model = Model(model.base_url, model.name, model.api_key)
    items, marker = await ask(model, "too_long")
    assert isinstance(items[-1], StreamFailure)
    assert len(upstream.asked(marker)) == 1
    assert LONG_PROMPT in caplog.records[-1].getMessage()


async def test_a_wrong_key_is_named_in_the_log(model, caplog):
    items, _ = await ask(model, "wrong_key")
    assert isinstance(items[-1], StreamFailure)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert WRONG_KEY in record.getMessage()
    assert model.address in record.getMessage()
    assert "?" not in record.getMessage()
