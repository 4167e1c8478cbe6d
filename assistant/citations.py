"""Markers like `[2]` in an answer become links to the passage; what cannot be checked is dropped."""

import re
from collections.abc import Iterator, Sequence

from assistant.events import Source, Text
from search.hits import Hit

_SCAN = re.compile(
    r"(?P<ticks>`+)"
    r"|(?P<marker>\[(?P<numbers>\d{1,3}(?:\s*,\s*\d{1,3})*)\](?:\([^()\s]{0,500}\))?)"
    r"|(?P<text>[^`\[]+|\[)"
)
# The end of the buffer that may still become a marker or a longer run of backticks.
_UNDECIDED = re.compile(r"(?:`+|\[[\d,\s]{0,20}|\[[\d,\s]{1,20}\](?:\([^()\s]{0,500})?)$")


class Citations:
    """Numbers cited pages by first use, and rewrites a streamed answer's markers."""

    def __init__(self, passages: Sequence[Hit]) -> None:
        self.passages = passages
        self.sources: list[Source] = []
        self._pages: dict[str, int] = {}
        self._held = ""
        self._code = 0  # length of the run of backticks that opened the code we are in
        self._before = ""  # the last character of the piece before

    def cite(self, index: int) -> tuple[str, list[Source]]:
        """The link to passage `index` (from 0), and its page as a source when it is cited for the first time."""
        passage = self.passages[index]
        number = self._pages.get(passage.path)
        new = []
        if number is None:
            number = self._pages[passage.path] = len(self._pages) + 1
            new = [Source(number, passage.url.partition("#")[0], passage.title)]
            self.sources += new
        return f"[{number}]({passage.url})", new

    def feed(self, delta: str) -> Iterator[Source | Text]:
        """Rewrite the next piece of a model's answer; an undecided end waits for the piece after it."""
        buffer = self._held + delta
        undecided = _UNDECIDED.search(buffer)
        cut = undecided.start() if undecided else len(buffer)
        self._held = buffer[cut:]
        yield from self._rewrite(buffer[:cut])

    def end(self) -> Iterator[Source | Text]:
        """Rewrite what still waited."""
        held, self._held = self._held, ""
        yield from self._rewrite(held)

    def _rewrite(self, text: str) -> Iterator[Source | Text]:
        written = ""
        for part in _SCAN.finditer(text):
            if part["ticks"]:
                if not self._code:
                    self._code = len(part["ticks"])
                elif len(part["ticks"]) >= self._code:
                    self._code = 0
                written += part["ticks"]
            elif part["marker"] and not self._code:
                links = []
                for number in dict.fromkeys(int(n) for n in part["numbers"].split(",")):
                    if 1 <= number <= len(self.passages):
                        link, new = self.cite(number - 1)
                        links.append(link)
                        yield from new
                written += " ".join(dict.fromkeys(links))
            else:
                written += part[0]
                if self._code < 3 and "\n\n" in self._before + part[0]:
                    self._code = 0  # code in a line ends with its paragraph, closed or not
            self._before = part[0][-1]
        if written:
            yield Text(written)
