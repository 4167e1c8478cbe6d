"""What a model says, on its way to the reader: its citations checked, its word for a refusal taken out."""

import re
from collections.abc import Iterator

from assistant.citations import Citations, says_unknown
from assistant.events import Source, Text
from assistant.prompts import NO_ANSWER

_WORD = re.compile(rf"[*`]*{NO_ANSWER}[*`]*[ \t]*[.:,-]?\s*")
# The end of a piece that may still become the word.
_BEGUN = re.compile("[*`]*(?:" + "|".join(NO_ANSWER[:end] for end in range(len(NO_ANSWER), 0, -1)) + r")?\Z")
_FIRST_SENTENCE = re.compile(r".*?[.!?](?=\s|\Z)", re.DOTALL)


class Said:
    """One model's answer. `refused` tells at its end whether it says that it has none."""

    def __init__(self, citations: Citations) -> None:
        self.refused = False
        self._citations = citations
        self._held = ""
        self._text = ""
        self._begun = False  # blanks alone are no answer

    def feed(self, delta: str) -> Iterator[Source | Text]:
        """The next piece; an end that may become the word for a refusal waits for what follows."""
        buffer = self._held + delta
        if found := _WORD.search(buffer):
            yield from self._say(buffer[: found.start()])
            yield from self._refuse()
            buffer = buffer[found.end() :]
        held = _BEGUN.search(buffer)
        cut = held.start() if held else len(buffer)
        self._held = buffer[cut:]
        yield from self._say(buffer[:cut])

    def end(self) -> Iterator[Source | Text]:
        """What still waited."""
        held, self._held = self._held, ""
        yield from self._say(held)
        yield from self._told(self._citations.end())
        first = _FIRST_SENTENCE.match(self._text)
        self.refused = self.refused or says_unknown(first[0] if first else self._text)

    def _say(self, text: str) -> Iterator[Source | Text]:
        if not self._begun:
            text = text.lstrip()
            self._begun = bool(text)
        if text:
            yield from self._told(self._citations.feed(text))

    def _refuse(self) -> Iterator[Source | Text]:
        """From here on nothing is cited."""
        yield from self._told(self._citations.end())
        self._citations = Citations([])
        self.refused = True

    def _told(self, events: Iterator[Source | Text]) -> Iterator[Source | Text]:
        for event in events:
            if isinstance(event, Text) and len(self._text) < 1000:
                self._text += event.delta
            yield event
