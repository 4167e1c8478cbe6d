"""Detects that a model refuses: its answer has `NO_ANSWER` before any citation, or its first sentence says so.

The marker is removed wherever it stands, the rest goes through the citation checker:

    "NO_ANSWER: The passages do not cover this."   ->   "The passages do not cover this.", refused
    "It listens on port 80 [1].\\n\\nNO_ANSWER"      ->   "It listens on port 80 [1].", not refused
    "No answer is sent when the queue is full."    ->   unchanged, not refused
"""

import re
from collections.abc import Sequence
from functools import cached_property

from assistant.answering.prompts import NO_ANSWER
from assistant.citations.link_checker import CitationChecker
from assistant.citations.refusal_phrases import is_refusal
from assistant.wire.events import Source, Text

MAX_START = 40  # characters that may wait as the beginning of the marker
_MAX_KEPT = 1000  # characters; the first sentence is judged at the end
# The marker as the prompt has it, or nearly so, with Markdown around it.
_MARKER = re.compile(
    r"[\s*_`\"'#>\[({.-]{0,12}(?:NO[_\\-]{1,3}ANSWER\b|NO ANSWER\b|(?i:no[ _]answer)(?=[*_`\"'\])}]{0,4}[.:;!]))"
    r"[*_`\"'\])}]{0,6}[ \t]{0,3}[.:,;!-]?\s{0,9}"
)
_OPENING, _CLOSING = r"""[*_`"'\[({]""", r"""[*_`"'\])}]{0,4}"""
_LATER_MARKER = re.compile(rf"{_OPENING}{{0,4}}\bNO\\?_ANSWER\b{_CLOSING}[.:,;!]?")
_QUOTED_MARKER = re.compile(rf"{_OPENING}{{0,4}}NO\\?_ANSWER{_CLOSING},?\s+[a-z\d(]")  # a sentence begins with it
_PERHAPS_LATER_MARKER = re.compile(
    rf"(?:{_OPENING}{{1,4}}|(?:{_OPENING}{{0,4}}\b(?:NO?|NO\\?_?(?:A|AN|ANS|ANSW|ANSWE|ANSWER{_CLOSING})?)))\Z"
)
_PERHAPS_ENDS = frozenset("*_`\"'[({])}\\NOASWER")  # of a text that ends with a part of it
_MARKER_SIZE = 24  # characters at the end of the text that may be a part of it
_MARKER_LETTERS = NO_ANSWER.replace("_", "").lower()
_FIRST_SENTENCE = re.compile(r".*?[.!?](?=\s|\Z)", re.DOTALL)


class RefusalDetector:
    """Passes one model's answer through the citation checker. After `end`, `refused` says whether it is a refusal."""

    def __init__(self, citations: CitationChecker) -> None:
        self.refused = False
        self._citations = citations
        self._sources_before = len(citations.sources)  # those that this reply has not cited
        self._start: str | None = ""  # waiting text that may begin with the marker; None after the decision
        self._held = ""  # the end of the text, which may be a part of the marker
        self._after_marker = False  # and its blanks go with it
        self._text = ""  # the beginning of the answer, as readers get it

    def feed(self, delta: str) -> Sequence[Source | Text]:
        """Check the next piece of the answer. The beginning waits while it may be the marker."""
        if self._start is None:
            events = self._feed_text(delta, is_final=False)
            return events if len(self._text) >= _MAX_KEPT else self._keep_text(events)
        self._start = (self._start + delta).lstrip()
        letters = "".join(filter(str.isalnum, self._start[:MAX_START])).lower()
        if len(self._start) > MAX_START or not _MARKER_LETTERS.startswith(letters):
            return self._decide_start()
        return ()

    def end(self) -> Sequence[Source | Text]:
        """Check the rest. An answer without citations is a refusal if its first sentence says so."""
        events = [*self._decide_start(), *self._keep_text(self._feed_text("", is_final=True))]
        events += self._keep_text(self._citations.end())
        if len(self._citations.sources) == self._sources_before:
            first = _FIRST_SENTENCE.match(self._text)
            self.refused = self.refused or is_refusal(first[0] if first else self._text)
        return events

    def _decide_start(self) -> Sequence[Source | Text]:
        start, self._start = self._start or "", None
        marker = _MARKER.match(start)
        if marker and not (self._is_documented and _QUOTED_MARKER.match(start)):
            self.refused = self._citations.refused = True
            start = start[marker.end() :]
        return self._keep_text(self._feed_text(start, is_final=False)) if start else ()

    def _feed_text(self, delta: str, is_final: bool) -> Sequence[Source | Text]:
        """Check a piece behind the beginning. The end of it waits while it may be a marker."""
        if not (self._held or self._after_marker or is_final or delta[-1:] in _PERHAPS_ENDS or NO_ANSWER[:2] in delta):
            return self._citations.feed(delta)  # most of a stream
        text, self._held = self._held + delta, ""
        may_wait = not is_final and text[-1:] in _PERHAPS_ENDS
        if may_wait and (part := _PERHAPS_LATER_MARKER.search(text, max(0, len(text) - _MARKER_SIZE))):
            text, self._held = text[: part.start()], text[part.start() :]
        if self._after_marker:
            text = text.lstrip(" \t")
            self._after_marker = not text
        if NO_ANSWER[:2] not in text or self._is_documented:
            return self._citations.feed(text) if text else ()
        first, *others = _LATER_MARKER.split(text)
        events = self._citations.feed(first)
        for other in others:
            if len(self._citations.sources) == self._sources_before:
                self.refused = self._citations.refused = True
            events += self._citations.feed(other.lstrip(" \t"))
            self._after_marker = not other.strip(" \t")
        return events

    @cached_property
    def _is_documented(self) -> bool:
        """Whether the passages tell about such a marker, so that an answer may quote it."""
        return any(NO_ANSWER in hit.body for hit in self._citations.passages)

    def _keep_text(self, events: Sequence[Source | Text]) -> Sequence[Source | Text]:
        for event in events:
            if isinstance(event, Text) and len(self._text) < _MAX_KEPT:
                self._text += event.delta
        return events
