"""The marker of a refusal is removed wherever a model writes it; before a citation it makes the answer a refusal."""

import pytest

from assistant.answering.refusals.detector import RefusalDetector
from assistant.citations.link_checker import CitationChecker
from assistant.wire.events import Text
from search.hits import Hit

INSTALL = "To install acme, run pip."


def detect(text: str, size: int = 0, body: str = INSTALL) -> tuple[str, bool]:
    """What a reader sees of an answer, and whether it is a refusal."""
    hit = Hit("/a", "https://docs.example/a", "A", "", ("A",), body, "", 0.9, "", text=body)
    detector = RefusalDetector(CitationChecker([hit]))
    pieces = [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
    events = [event for piece in pieces for event in detector.feed(piece)] + [*detector.end()]
    return "".join(event.delta for event in events if isinstance(event, Text)), detector.refused


@pytest.mark.parametrize(
    ("text", "shown", "refused"),
    [
        ("The passages tell of pip only.\n\nNO_ANSWER", "The passages tell of pip only.\n\n", True),
        ("Sorry.\nNO_ANSWER: It is not covered.", "Sorry.\nIt is not covered.", True),
        ('I must say "NO_ANSWER".', "I must say ", True),
        ("So `NO_ANSWER` it is", "So it is", True),
        ("**NO\\_ANSWER** - not there", "not there", True),
        ("Hm, **NO\\_ANSWER**", "Hm, ", True),
        ("No-answer calls are forwarded.", "No-answer calls are forwarded.", False),
        ("A NO_ANSWERS flag", "A NO_ANSWERS flag", False),
        ("In NORWAY and NO_ANS or `NO", "In NORWAY and NO_ANS or \\`NO", False),
    ],
)
def test_a_marker_without_a_citation_before_it_is_a_refusal(text: str, shown: str, refused: bool) -> None:
    for size in (0, 1, 2, 3, 5, 8):
        assert detect(text, size) == (shown, refused), size


def test_what_was_answered_before_it_stays_an_answer() -> None:
    for size in (0, 1, 4):
        shown, refused = detect("To install acme, run pip [1].\n\nNO_ANSWER for the rest.", size)
        assert shown.endswith(").\n\nfor the rest.")
        assert shown.startswith("To install acme, run pip [1](https://docs.example/a#")
        assert not refused


def test_a_page_that_tells_about_the_marker_can_be_answered_from() -> None:
    body = "The model begins with NO_ANSWER to refuse."
    for text in (
        "It begins with `NO_ANSWER` to refuse.",
        "`NO_ANSWER` begins it.",
        "NO_ANSWER, in capitals, begins it.",
    ):
        for size in (0, 1, 3):
            assert detect(text, size, body) == (text, False), size
    for refusal in (
        "NO_ANSWER",
        "NO_ANSWER: it is not covered.",
        "NO_ANSWER It is not covered.",
        "`NO_ANSWER`\nSorry.",
    ):
        assert detect(refusal, 3, body)[1], refusal
