"""Which outcomes count as answered, and which as unanswered: the same in every report, export and event."""

from collections.abc import Mapping

from assistant.models import Message

Outcome = Message.Outcome

ANSWERED = frozenset((Outcome.ANSWERED, Outcome.GREETING))  # an answer with a source, and small talk
UNANSWERED = frozenset(Outcome) - ANSWERED - {Outcome.RUNNING}
WITHOUT_ANSWER = "without_answer"  # the value of filters that stands for all of UNANSWERED


def is_answered(answer: Message) -> bool:
    """Whether the question was answered."""
    return answer.outcome in ANSWERED


def select(name: str) -> frozenset[str]:
    """The outcomes that a filter with this value lets pass: one, or all without an answer."""
    return UNANSWERED if name == WITHOUT_ANSWER else frozenset((name,))


def count_asked(counts: Mapping[str, int]) -> int:
    """How many of some questions, counted by outcome, wanted an answer and have their result. Greetings do not."""
    return counts.get(Outcome.ANSWERED, 0) + count_unanswered(counts)


def count_unanswered(counts: Mapping[str, int]) -> int:
    """How many of some questions, counted by outcome, have no answer."""
    return sum(counts.get(outcome, 0) for outcome in UNANSWERED)


def measure_rate(counts: Mapping[str, int]) -> float | None:
    """The share (0..1) of the questions that wanted an answer and got one. None if there is no such question."""
    asked = count_asked(counts)
    return counts.get(Outcome.ANSWERED, 0) / asked if asked else None
