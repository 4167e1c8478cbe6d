"""Detects that a model refuses: its answer begins with `NO_ANSWER`, or its first sentence says so.

The marker is removed, the rest goes through the citation checker:

    "NO_ANSWER: The passages do not cover this."   ->   "The passages do not cover this.", refused
    "No answer is sent when the queue is full."    ->   unchanged, not refused
"""

import re
from collections.abc import Sequence

from assistant.answering.prompts import NO_ANSWER
from assistant.citations.citation_links import CitationChecker
from assistant.citations.refusal_phrases import is_refusal
from assistant.events import Source, Text

MAX_START = 40  # characters that may wait as the beginning of the marker
_MAX_KEPT = 1000  # characters; the first sentence is judged at the end
# The marker as the prompt has it, or nearly so, with Markdown around it.
_MARKER = re.compile(
    r"[\s*_`\"'#>\[({.-]{0,12}(?:(?i:NO[_\\-]{1,3}ANSWER)\b|NO ANSWER\b|(?i:no answer)(?=[.:;!]))"
    r"[*_`\"'\])}]{0,6}[ \t]{0,3}[.:,;!-]?\s{0,9}"
)
_MARKER_LETTERS = NO_ANSWER.replace("_", "").lower()
_FIRST_SENTENCE = re.compile(r".*?[.!?](?=\s|\Z)", re.DOTALL)


class RefusalDetector:
    """Passes one model's answer through the citation checker. After `end`, `refused` says whether it is a refusal."""

    def __init__(self, citations: CitationChecker) -> None:
        self.refused = False
        self._citations = citations
        self._start: str | None = ""  # waiting text that may begin with the marker; None after the decision
        self._text = ""  # the beginning of the answer, as readers get it

    def feed(self, delta: str) -> Sequence[Source | Text]:
        """Check the next piece of the answer. The beginning waits while it may be the marker."""
        if self._start is None:
            events = self._citations.feed(delta)
            return events if len(self._text) >= _MAX_KEPT else self._keep_text(events)
        self._start = (self._start + delta).lstrip()
        letters = "".join(filter(str.isalnum, self._start[:MAX_START])).lower()
        if len(self._start) > MAX_START or not _MARKER_LETTERS.startswith(letters):
            return self._decide_start()
        return ()

    def end(self) -> Sequence[Source | Text]:
        """Check the rest. An answer without citations is a refusal if its first sentence says so."""
        events = [*self._decide_start(), *self._keep_text(self._citations.end())]
        if not self._citations.sources:
            first = _FIRST_SENTENCE.match(self._text)
            self.refused = self.refused or is_refusal(first[0] if first else self._text)
        return events

    def _decide_start(self) -> Sequence[Source | Text]:
        start, self._start = self._start or "", None
        if marker := _MARKER.match(start):
            self.refused = self._citations.refused = True
            start = start[marker.end() :]
        return self._keep_text(self._citations.feed(start)) if start else ()

    def _keep_text(self, events: Sequence[Source | Text]) -> Sequence[Source | Text]:
        for event in events:
            if isinstance(event, Text) and len(self._text) < _MAX_KEPT:
                self._text += event.delta
        return events
