"""Thoughts, tool calls and control tokens that a server leaves in the text reach nobody, wherever it is cut."""

import random

import pytest

from assistant.upstream.completion import Completion
from assistant.upstream.text_filter import TextFilter
from assistant.upstream.written_calls import parse

HARMONY = "<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>Use it.<|return|>"
HERMES = '{"name": "search", "arguments": {"query": "a b"}}'
STEPS = "# Use\n\n```sh\nuv\n```\n\nDone [1].\n"


def filter_text(text: str, size: int) -> tuple[str, TextFilter]:
    text_filter = TextFilter()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    written = "".join(piece if text_filter.passes(piece) else text_filter.feed(piece) for piece in pieces)
    return written + text_filter.end(), text_filter


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        # Thoughts.
        ("<think>Hm, 1 < 2.</think>\n\nUse [1].", "Use [1]."),
        ("\n <think>\n</think>Use it.", "Use it."),
        ("<think>a</think> <think>b</think> Use it.", "Use it."),
        ("<thinking>a</think></thinking>Use it.", "Use it."),
        ("[THINK]a[/THINK]Use it.", "Use it."),
        ("◁think▷a◁/think▷Use it.", "Use it."),
        ("<think>without an end", ""),
        ("Use <reasoning>x</reasoning>it.", "Use it."),
        ("<Think>a<think>b</think>c</THINK>Use it.", "Use it."),
        ("<think>the tag <think> is a tag</think>Use it.", "Use it."),
        ("So it is.</think>\n\nUse it.", "So it is.\n\nUse it."),
        (HARMONY, "Use it."),
        ("<|channel|>analysis hm <|channel|>final Use it.", " Use it.".lstrip()),
        # Control tokens.
        ("Use it.<|im_end|></s><end_of_turn>", "Use it."),
        ("Use it.<|eot_id|>\n", "Use it.\n"),
        ("<s>[INST]Use it.", "Use it."),
        ("<start_of_turn>model\nUse it.", "Use it."),
        ("<|im_start|>assistant\nUse it.<|im_end|>\n<|im_start|>", "Use it.\n"),
        ("<|start_header_id|>assistant<|end_header_id|>\n\nUse it.", "Use it."),
        ("<|im_start|>assist it", "assist it"),
        # Calls.
        ("<think>a</think>\n<tool_call>{}</tool_call>", ""),
        ("<tool_call>{}</tool_call>\nUse it.", "Use it."),
        ('Let me see.\n{"name": "search", "parameters": {}}', "Let me see.\n"),
        ('<invoke name="search"><parameter name="query">x</parameter></invoke>', ""),
        ('Let me see: {"name": "search", "arguments": {"query": "x"', "Let me see: "),
        (
            'Use {"name": "search"} and {"tool": "x", "args": 1}.',
            'Use {"name": "search"} and {"tool": "x", "args": 1}.',
        ),
        ('In `{"name": "search", "arguments": {}}` so.', 'In `{"name": "search", "arguments": {}}` so.'),
        (f"Call it [1]:\n\n```json\n{HERMES}\n```\nThen go.", f"Call it [1]:\n\n```json\n{HERMES}\n```\nThen go."),
        ("The <abc:x> and [searching( of <a:", "The <abc:x> and [searching( of <a:"),
        # A wrapper.
        (f"```markdown\n{STEPS}```", STEPS),
        (f"```md\n{STEPS}```\n", STEPS),
        ('{"answer": "Use [1]."}', "Use [1]."),
        # The answer's own.
        ('{"answer": "x", "more": 1}', '{"answer": "x", "more": 1}'),
        ('{"name": "acme"} is JSON.', '{"name": "acme"} is JSON.'),
        ('```json\n{"name": "acme"}\n```\nSo.', '```json\n{"name": "acme"}\n```\nSo.'),
        ("Use `<think>` and `<|x|>`.", "Use `<think>` and `<|x|>`."),
        ("```\n<think>\n```\nSo <|im_end|>", "```\n<think>\n```\nSo "),
        ("Use:\n\n```\nx\n```\n", "Use:\n\n```\nx\n```\n"),
        ("a < b and c > d <b> <thin ice>", "a < b and c > d <b> <thin ice>"),
        ("  [1] says so", "[1] says so"),
        ("[Guide] says <th", "[Guide] says <th"),
        ("Ends with ``", "Ends with ``"),
        (" " * 50 + "x", " " * 50 + "x"),
        # What only looks like it.
        (
            'Add [1]:\n\n```json\n{"type": "search"}\n```\nThen go.',
            'Add [1]:\n\n```json\n{"type": "search"}\n```\nThen go.',
        ),
        ('{"action": "search", "more": 1}', '{"action": "search", "more": 1}'),
        ("[search()](https://d.example/api) finds it.", "[search()](https://d.example/api) finds it."),
        ("Now deploy <function name> and wait. Then go.", "Now deploy <function name> and wait. Then go."),
        ("Models write <tool_call>.", "Models write <tool_call>."),
        ("A <reasoning> element holds text.", "A <reasoning> element holds text."),
        # Code in lists, with odd backticks, in tildes.
        ("- ```sh\n  pip\n  ```\n<think>secret</think>Done", "- ```sh\n  pip\n  ```\nDone"),
        (" ```pip install x``` installs.\n<think>secret</think>", " ```pip install x``` installs.\n"),
        ("   ```html\n   x\n   ```\n<think>secret</think>So", "   ```html\n   x\n   ```\nSo"),
        ("Delimit with `` ` ``. <think>secret</think>So", "Delimit with `` ` ``. So"),
        ("The ` sign. <think>secret</think>So\n", "The ` sign. So\n"),
        ("~~~\n<s>a</s>\n~~~\nSo<s>", "~~~\n<s>a</s>\n~~~\nSo"),
        ("````\n```\n<think>\n````\nSo", "````\n```\n<think>\n````\nSo"),
        # A wrapper around what is taken out.
        ('{"answer": "<think>secret</think>Use pip"}', "Use pip"),
        ('{"answer": "Use pip."}<|im_end|>', "Use pip."),
    ],
)
def test_only_the_answer_is_left(text: str, visible: str) -> None:
    for size in (1, 2, 3, 5, 7, 1000):
        assert filter_text(text, size)[0] == visible, size
    at = sorted(random.Random(len(text)).sample(range(len(text)), min(4, len(text))))
    text_filter = TextFilter()
    pieces = [text[begin:end] for begin, end in zip([0, *at], [*at, None], strict=True)]
    assert "".join(map(text_filter.feed, pieces)) + text_filter.end() == visible, pieces


CALL = [("search", {"query": "a b"})]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ('[search(query="list[int(x)]")]', "list[int(x)]"),
        ("[search(query='it\\'s f(x)]')] Then I answer.", "it's f(x)]"),
        ('[search(query="a \\" f(x)]", n=(1))] and "so" on.', 'a " f(x)]'),
        ('[search(query="it\'s f()]")]', "it's f()]"),
    ],
)
def test_a_bracket_in_a_string_does_not_end_a_call(text: str, query: str) -> None:
    [(name, arguments)] = parse(text)
    assert (name, arguments["query"]) == ("search", query)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "search", "arguments": {"query": "a b"}}\n</tool_call>',
        'I search.\n<tool_call>{"name": "search", "arguments": "{\\"query\\": \\"a b\\"}"}',
        '{"name": "search", "parameters": {"query": "a b"}}',
        '{"type": "function", "function": {"name": "search", "arguments": {"query": "a b"}}}',
        '```json\n{"name": "search", "arguments": {"query": "a b"}}\n```',
        '<|python_tag|>{"name": "search", "parameters": {"query": "a b"}}<|eom_id|>',
        '[TOOL_CALLS][{"name": "search", "arguments": {"query": "a b"}}]</s>',
        '[TOOL_CALLS]search[ARGS]{"query": "a b"}',
        "<tool_call>\n<function=search>\n<parameter=query>\na b\n</parameter>\n</function>\n</tool_call>",
        '<function=search>{"query": "a b"}</function>',
        '[search(query="a b")]',
        '<invoke name="search"><parameter name="query">a b</parameter></invoke>',
        '<function_calls>\n<invoke name="search">\n<parameter name="query" string="true">a b</parameter>\n</invoke>\n',
        '<minimax:tool_call><invoke name="search"><parameter name="query">a b</parameter></invoke></minimax:tool_call>',
        # In the middle of a line, and with what a model makes up behind it.
        f"I search. {HERMES}",
        f"I search. {HERMES}\n\nOnce I have the results, I answer.",
        f"{HERMES}\nIt found that [1].",
        f"```json\n{HERMES}\n```\nNow I wait.",
        'I search. {"type": "function", "function": {"name": "search", "arguments": {"query": "a b"}}}',
        'I search. [search(query="a b")] Then I answer.',
    ],
)
def test_a_call_that_is_written_as_text_is_a_call(text: str) -> None:
    for size in (1, 3, 1000):
        written, text_filter = filter_text(text, size)
        assert written in ("", "I search.\n", "I search. ")
        assert [call for each in text_filter.take_calls() for call in parse(each)] == CALL


@pytest.mark.parametrize(
    "text", ["", "acme", "{1}", '{"a": 1}', "print(1)[0]", "f(" * 5_000, "[" * 5_000, '{"name": 1}', "```json\n{\n```"]
)
def test_other_text_is_no_call(text: str) -> None:
    assert list(parse(text)) in ([], [("acme", {})][:0])


def test_a_call_is_kept_up_to_a_limit() -> None:
    text = '<tool_call>{"name": "search", "arguments": {"query": "' + "x" * 100_000
    written, text_filter = filter_text(text, 4096)
    assert (written, text_filter.take_calls()) == ("", [])
    assert len(text_filter._taken) == 16 * 1024


def test_it_knows_whether_the_model_hides_something() -> None:
    text_filter = TextFilter()
    states = [(text_filter.feed(piece), text_filter.is_hiding) for piece in ("<think>", "x", "</think>", "y")]
    assert states == [("", True), ("", True), ("", False), ("y", False)]


def read(*events: dict) -> str:
    """The text of a completion."""
    return "".join(getattr(item, "text", "") for event in events for item in Completion().parse(event))


def test_a_whole_message_after_its_pieces_is_not_repeated() -> None:
    completion = Completion()
    pieces = [{"choices": [{"delta": {"content": "Use "}}]}, {"choices": [{"delta": {"content": "it."}}]}]
    whole = {"choices": [{"message": {"content": "Use it."}, "finish_reason": "stop"}]}
    items = [item for event in (*pieces, whole) for item in completion.parse(event)]
    assert "".join(getattr(item, "text", "") for item in items) == "Use it."
    assert read(whole) == "Use it.", "a body that is no stream"


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "visible", "is_known"),
    [
        ("Hm [1].</think>\n\nUse it [1].", "Use it [1].", True),
        ("Hm.[/THINK]Use it.", "Use it.", True),
        ("Use it [1].", "Use it [1].", False),
        ("Use it [1].</think>\n", "Use it [1].", False),
        ("Hm <think> hm.</think>Use it.", "Use it.", True),
    ],
)
def test_thoughts_that_the_prompt_opens_are_known_from_the_second_text_on(text, visible, is_known, size):
    _, first = filter_text(text, size)
    assert first.closed_unopened is (is_known and "<think>" not in text)
    later = TextFilter(starts_in_thoughts=True)
    written = "".join(later.feed(text[at : at + size]) for at in range(0, len(text), size)) + later.end()
    assert (written.strip(), later.closed_unopened) == (visible, is_known)
