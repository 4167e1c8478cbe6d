"""Shapes of answers that models write, over every channel: what a reader gets, and what is recorded."""

import re

import pytest

from assistant.models import Message
from tests.assistant.asking import test_message_v1, test_message_v2, test_socket
from tests.variants import first_of

CITED = "Run pip to install acme on your machine"
PLAIN = "Run pip to install acme on your machine @1."
CALL = '{"name": "search", "arguments": {"query": "labels"}}'

# What the model writes (`&#10;` is a line break), what of it is shown with `@1` for a link, and the outcome.
SHAPES = [
    (f"{CITED} [1].", PLAIN, "answered"),
    # Markers.
    (f"{CITED} [citation:1].", PLAIN, "answered"),
    (f"{CITED} ［1］.", PLAIN, "answered"),
    (f"{CITED} (Passage 1).", PLAIN, "answered"),
    (f"{CITED} [1].&#10;&#10;Sources:&#10;[1] Installing acme", PLAIN, "answered"),
    (f"{CITED} [1].&#10;&#10;[^1]: Installing acme", PLAIN, "answered"),
    (f"{CITED} [1]. Its rows[0] is in [0, 1].", f"{PLAIN} Its rows[0] is in [0, 1].", "answered"),
    (f"{CITED} with `--port 9443` [1].", "Run pip to install acme on your machine with `--port 9443` @1.", "answered"),
    (f"{CITED} [1]. Open http://localhost:80/ now.", f"{PLAIN} Open `http://localhost:80/` now.", "answered"),
    ("The documentation names no wheel, but you can install acme with pip [1].",
     "The documentation names no wheel, but you can install acme with pip @1.", "answered"),
    # Refusals.
    ("Sorry.&#10;NO_ANSWER", "Sorry.", "refused"),
    (f"{CITED} [1].&#10;&#10;NO_ANSWER", PLAIN, "answered"),
    # Thoughts, control tokens, wrappers.
    (f"<think>Hm [1].</think>{CITED} [1].", PLAIN, "answered"),
    (f"<|channel|>analysis Hm. <|channel|>final {CITED} [1].", PLAIN, "answered"),
    (f"{CITED} <reasoning>Hm.</reasoning>[1].", PLAIN, "answered"),
    (f"{CITED} [1].<|im_end|></s>", PLAIN, "answered"),
    (f"```markdown&#10;{CITED} [1].&#10;```", PLAIN, "answered"),
    (f'{{"answer": "{CITED} [1]."}}', PLAIN, "answered"),
]  # fmt: skip


def plain(text: str) -> str:
    """The answer's own text, with `@1` for a link to a page."""
    text = re.sub(r"\[(\d)\]\(https://docs\.acme\.example[^)]*\)", r"@\1", text)
    return re.split(r"\n\n(?:The nearest pages:|I couldn't find)", text)[0].strip()


def order(written: str) -> list[dict[str, str]]:
    return [{"type": "textSelection", "value": f"fake:shred\nSAY: {written}"}]


def outcome_of(project, **found) -> str:
    return Message.objects.get(thread__project=project.project, role="assistant", **found).outcome


@pytest.mark.parametrize(("written", "shown", "outcome"), first_of(SHAPES, 2))
def test_a_reader_gets_the_answer_and_nothing_else(http, model_service, project, written, shown, outcome):
    first = test_message_v1.parts(test_message_v1.ask(http, model_service, project, context=order(written)))
    assert plain(test_message_v1.text(first)) == shown
    second = test_message_v2.events(test_message_v2.ask(http, model_service, project, context=order(written)))
    assert plain(test_message_v2.text(second)) == shown
    assert outcome_of(project, message_id=second[0]["messageId"]) == outcome
    question = f"{test_message_v1.INSTALL} fake:shred\nSAY: {written}"
    params = {"name": "ask_docs", "arguments": {"question": question}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = http.post(f"{model_service.url}/mcp/{project.domain}", json=body).json()["result"]["structuredContent"]
    assert plain(answer["answer"]) == shown
    assert answer["isAnswered"] is (outcome == "answered")


@pytest.mark.matrix
async def test_the_socket_gives_the_same(model_service, project):
    async with test_socket.connect(model_service, project) as socket:
        for written, shown, _ in SHAPES:
            await socket.send(test_socket.ask(project, context=order(written)))
            events = await test_socket.read(socket)
            assert plain("".join(event.get("delta", "") for event in events)) == shown, written


@pytest.mark.parametrize(
    "written", first_of([f"<tool_call>{CALL}</tool_call>", CALL, f"```json&#10;{CALL}&#10;```", f"[TOOL_CALLS][{CALL}]",
                '[search(query="labels")]',
                "I search.&#10;<function=search><parameter=query>labels</parameter></function>"], 2)
)  # fmt: skip
def test_a_call_that_is_written_as_text_searches(http, model_service, project, written):
    stream = test_message_v2.events(test_message_v2.ask(http, model_service, project, context=order(written)))
    queries = [event["input"]["query"] for event in stream if event["type"] == "tool-input-available"]
    assert "labels" in queries
    assert "labels" not in plain(test_message_v2.text(stream)).partition("Run this")[0]
