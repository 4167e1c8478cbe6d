"""Resolves “Continue” after an answer that broke off: it searches for the earlier question again.

history: "How do I install acme?", an answer that the reader stopped
question: "go on"   ->   "How do I install acme?"
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from assistant.question import Question, Turn

_CONTINUE = re.compile(r"\W*(?:continue|go\s+on)\W*", re.IGNORECASE)


def resolve(question: Question, history: Sequence[Turn]) -> tuple[Question, Sequence[Turn]]:
    """Return the question to search for, and the turns before it.

    A history that ends with a question has an answer that was stopped before its first word.
    """
    is_broken_off = history and (history[-1].role == "user" or history[-1].broken_off)
    if is_broken_off and _CONTINUE.fullmatch(question.text):
        for index in range(len(history) - 1, -1, -1):
            turn = history[index]
            if turn.role == "user" and not _CONTINUE.fullmatch(turn.text):
                return replace(question, text=turn.text), history[:index]
    return question, history
