"""What a model says, on its way to the reader: its citations checked, its word for a refusal taken off."""

import re
from collections.abc import Iterator

from assistant.answering.prompts import NO_ANSWER
from assistant.citations.checker import CitationChecker
from assistant.citations.refusal_phrases import is_refusal
from assistant.events import Source, Text

LONGEST_START = 40  # characters of marks and blanks that may stand around the word
# As it was told, or nearly so. "No answer is sent when" begins a sentence.
_WORD = re.compile(
    r"[\s*_`\"'#>\[({.-]{0,12}(?:(?i:NO[_\\-]{1,3}ANSWER)\b|NO ANSWER\b|(?i:no answer)(?=[.:;!]))"
    r"[*_`\"'\])}]{0,6}[ \t]{0,3}[.:,;!-]?\s{0,9}"
)
_FIRST_SENTENCE = re.compile(r".*?[.!?](?=\s|\Z)", re.DOTALL)


class Said:
    """One model's answer. `refused` tells at its end whether it says that it has none."""

    def __init__(self, citations: CitationChecker) -> None:
        self.refused = False
        self._citations = citations
        self._start: str | None = ""  # what came so far, while it may still begin with the word
        self._text = ""

    def feed(self, delta: str) -> Iterator[Source | Text]:
        """The next piece; a beginning that may be the word for a refusal waits for what follows."""
        if self._start is None:
            yield from self._told(self._citations.feed(delta))
        else:
            self._start = (self._start + delta).lstrip()
            letters = "".join(filter(str.isalnum, self._start[:LONGEST_START])).lower()
            word = NO_ANSWER.replace("_", "").lower()
            if len(self._start) > LONGEST_START or not word.startswith(letters):
                yield from self._begin()

    def end(self) -> Iterator[Source | Text]:
        """What still waited."""
        if self._start is not None:
            yield from self._begin()
        yield from self._told(self._citations.end())
        first = _FIRST_SENTENCE.match(self._text)
        if not self._citations.sources:
            self.refused = self.refused or is_refusal(first[0] if first else self._text)

    def _begin(self) -> Iterator[Source | Text]:
        start, self._start = self._start or "", None
        if found := _WORD.match(start):
            self.refused = self._citations.refused = True
            start = start[found.end() :]
        if start:
            yield from self._told(self._citations.feed(start))

    def _told(self, events: Iterator[Source | Text]) -> Iterator[Source | Text]:
        for event in events:
            if isinstance(event, Text) and len(self._text) < 1000:
                self._text += event.delta
            yield event
