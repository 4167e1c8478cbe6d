"""“Continue”, after an answer that broke off: it asks for the rest, so it is searched for like the question before."""

import re
from collections.abc import Sequence
from dataclasses import replace

from assistant.question import Question, Turn

_GO_ON = re.compile(r"\W*(?:continue|go\s+on)\W*", re.IGNORECASE)


def meant(question: Question, history: Sequence[Turn]) -> tuple[Question, Sequence[Turn]]:
    """What to search for, with what was said before it: the question that a bare “Continue” goes on with, or this one.

    An answer that was stopped before its first word is not in the history, which then ends with its question.
    """
    broken_off = history and (history[-1].role == "user" or history[-1].broken_off)
    if broken_off and _GO_ON.fullmatch(question.text):
        for place in range(len(history) - 1, -1, -1):
            turn = history[place]
            if turn.role == "user" and not _GO_ON.fullmatch(turn.text):
                return replace(question, text=turn.text), history[:place]
    return question, history
