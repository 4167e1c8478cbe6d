"""Thoughts between tags at the beginning of a text reach nobody, wherever the network cuts them."""

import pytest

from assistant.upstream.reasoning import ReasoningFilter


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
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_thoughts_are_taken_out(text, visible, size):
    reasoning = ReasoningFilter()
    pieces = [reasoning.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(pieces) + reasoning.end() == visible


def test_it_knows_whether_the_model_thinks():
    reasoning = ReasoningFilter()
    states = [(reasoning.feed(piece), reasoning.is_reasoning) for piece in ("<think>", "x", "</think>", "y")]
    assert states == [("", True), ("", True), ("", False), ("y", False)]
