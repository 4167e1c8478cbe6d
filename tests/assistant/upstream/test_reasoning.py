"""Thoughts between tags at the beginning of a text reach nobody, wherever the network cuts them."""

import pytest

from assistant.upstream.reasoning import TagFilter


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("<think>Hm, 1 < 2.</think>\n\nUse [1].", "Use [1]."),
        ("\n <think>\n</think>Use it.", "Use it."),
        ("<think>a</think> <think>b</think> Use it.", "Use it."),
        ("<thinking>a</think></thinking>Use it.", "Use it."),
        ("[THINK]a[/THINK]Use it.", "Use it."),
        ("<think>without an end", ""),
        ("<think>x</think>", ""),
        ("Use <think>x</think> as it is.", "Use <think>x</think> as it is."),
        ("<thin ice>", "<thin ice>"),
        ("  [1] says so", "  [1] says so"),
        ("<th", "<th"),
        (" \n", " \n"),
        (" " * 300 + "x", " " * 300 + "x"),
        ("<think>a</think>\n<tool_call>{}</tool_call>", ""),
        ("<tool_call>{}</tool_call>\nUse it.", "Use it."),
        ("Models write <tool_call>.", "Models write <tool_call>."),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_thoughts_and_calls_are_taken_out(text, visible, size):
    reasoning = TagFilter()
    pieces = [reasoning.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(pieces) + reasoning.end() == visible


def test_it_knows_whether_the_model_thinks():
    reasoning = TagFilter()
    states = [(reasoning.feed(piece), reasoning.is_reasoning) for piece in ("<think>", "x", "</think>", "y")]
    assert states == [("", True), ("", True), ("", False), ("y", False)]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("<think>a</think><tool_call>\n{1}\n</tool_call>\n<tool_call>{2}</tool_call>", ["\n{1}\n", "{2}"]),
        ("<tool_call>{without an end}", ["{without an end}"]),
        ("<tool_call>" + "x" * 100_000, ["x" * 16 * 1024]),
        ("<think><tool_call>{}</tool_call></think>", []),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_texts_of_calls_are_kept(text, calls, size):
    reasoning = TagFilter()
    for at in range(0, len(text), size):
        reasoning.feed(text[at : at + size])
    reasoning.end()
    assert reasoning.take_tool_calls() == calls
