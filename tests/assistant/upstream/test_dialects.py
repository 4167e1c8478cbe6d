"""Every server that people use: the relay reads its streams, its refusals and its errors."""

import logging
import uuid
from typing import Any

import pytest

from assistant.answering.tools import TOOLS
from assistant.upstream import Delta, EndOfText, Model, ToolCalls, Usage, formats, openai, relay
from assistant.upstream.errors import LONG_PROMPT, WRONG_KEY
from assistant.upstream.relay import Bounds, StreamFailure
from tests.dialects import ANSWER, DIALECTS
from tests.variants import first_of

OPTIONAL = {"max_tokens", "temperature", "stream_options", "reasoning_effort"}

pytestmark = pytest.mark.parametrize("name", first_of(DIALECTS, 6))


@pytest.fixture
def model(upstream: Any, name: str, monkeypatch: Any) -> Model:
    """A model of the dialect, of which nothing is known yet."""
    monkeypatch.setattr(openai, "_refused", {})
    return Model(
        f"{upstream.url}/{name}{DIALECTS[name].base}", "fake", "sk-fake", temperature=0.2, reasoning_effort="low"
    )


async def ask(model: Model, mode: str = "happy", *more: Any, **options: Any) -> tuple[list[Any], str]:
    """The items of an answer, and the word by which its requests are found. `more` are further messages."""
    marker = uuid.uuid4().hex
    messages = [{"role": "user", "content": f"fake:{mode} {marker}"}, *more]
    items = [item async for item in relay.stream(model, messages, Bounds(), **options)]
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


async def test_a_server_of_each_kind_calls_tools_or_is_known_not_to(model, name, upstream, caplog):
    dialect = DIALECTS[name]
    items, marker = await ask(model, tools=TOOLS)
    request = upstream.last(marker)
    assert ("tools" in request) == ("tools" not in dialect.refused)
    if "tools" in dialect.refused:
        assert "".join(item.text for item in items if isinstance(item, Delta)) == "".join(ANSWER)
        assert len(upstream.asked(marker)) == 2, "asked again without tools"
        assert "refuses tools" in caplog.text
        _, marker = await ask(model, tools=TOOLS)
        assert len(upstream.asked(marker)) == 1, "and this is remembered"
        return
    [calls] = [item for item in items if isinstance(item, ToolCalls)]
    assert [(call.name, call.arguments) for call in calls.calls] == [
        ("search", {"query": "where"}),
        ("read_page", {"path": "/a"}),
    ]
    assert not [item for item in items if isinstance(item, Delta)]
    assert "empty answer" not in caplog.text

    results = [{"role": "tool", "tool_call_id": call.id, "content": "found"} for call in calls.calls]
    items, _ = await ask(model, "happy", calls.message, *results, tools=TOOLS)
    assert "".join(item.text for item in items if isinstance(item, Delta)) == "".join(ANSWER)


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
    assert record.levelno >= logging.WARNING
    assert WRONG_KEY in record.getMessage()
    assert model.address in record.getMessage()
    assert "?" not in record.getMessage()
