"""Rewriting a model's Markdown while it streams: what is held back, and where it stands. `sanitizer` decides.

The text is read piece by piece. Each piece is decided once and for good, when
enough has arrived; until then it is held back. Decisions look at what was
written last (`_past`), not at what was read, since what vanishes between two
harmless pieces may join them to a harmful one.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar

from assistant.citations import addresses, block_scanner
from assistant.events import Source, Text

LONGEST_LINK = 600  # characters of a link or an address that are held back
LONGEST_START = 400  # characters of a line of which nothing is known yet
LONGEST_CLAIM = 600
_CHUNK = 4_096  # what is looked at in one go, so that a long delta costs no more than many short ones
# What most of a stream is: words. But one at the end may be the beginning of an address.
_PLAIN = re.compile(r" {0,5}(?:[^\W_]|[,.?'\"*_’–—-])(?:[^\W_]|[ ,.?'\"*_’–—-])*")
_PERHAPS = re.compile(
    r"(?<![^\W_])(?:" + "|".join({text[:end] for text in addresses.BEGINNINGS for end in range(1, len(text))}) + r")\Z",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\W_]+|[^\w\s\\`<>\[\]!&@|():;/.~【]+|_+")
_SUGGESTIONS = re.compile(r"([`~]{3,}[ \t]*)suggestions\b", re.IGNORECASE)  # a block of our own: nobody else makes one
_BLANKS = re.compile(r"[ \t]+")
RUN = re.compile(r"`+|~+")
_OPEN = re.compile(r"(?:www|[\w.+-]@[\w.-]*)\.$", re.IGNORECASE)  # what a word must not follow
_CLOSING = ".,;:!?)…。，、；：！？"


class Rewriter(ABC):
    """Rewrites a streamed answer.

    Each step takes the next piece off what is held (`_held`) and writes what it
    becomes; it returns False, and does nothing, when it takes more to decide.
    A piece that begins with a sign of `steps` is taken by the method named there.
    """

    steps: ClassVar[Mapping[str, str]]

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._held = ""
        self._final = False
        self._events: list[Source | Text] = []
        self._tail = ""  # the end of what was written
        self._before = block_scanner.State()  # what is open above the line
        self._line: block_scanner.Line | None = None  # the line that is being read; None at its beginning
        self._prefix = ""  # its marks and indentation, not yet written
        self._blanks = ""  # blanks not yet written
        self._begun = False  # whether anything was written of the line
        self._shown = ""  # the line as it is written, for the head of a table
        self._breaks = False  # whether code of the line would break at a table's column
        self._said = ""  # the paragraph, item or cell, for the claim of a marker
        self._cells = ""  # the cells before it
        self._gap = False  # whether something vanished just here
        self._bare = False  # whether an address was written last, as it is
        self._endless = ""  # the character of a run of them, or "address", that is too long and still goes on

    def feed(self, delta: str) -> Iterator[Source | Text]:
        """Rewrite the next piece of a model's answer; an undecided end waits for the piece after it."""
        if self._is_plain(delta):
            yield Text(self._plain(delta))
            return
        for start in range(0, len(delta), _CHUNK):
            self._held += delta[start : start + _CHUNK]
            yield from self._work()

    def end(self) -> Iterator[Source | Text]:
        """Rewrite what still waited."""
        self._final = True
        yield from self._work()
        if (after := self._line.after if self._line else self._before).fence:  # so that what follows is no code
            inside = "".join(" " * columns if columns else "> " for columns in after.containers)
            fence = RUN.search(after.fence)
            yield Text(f"{'' if self._line is None else chr(10)}{inside}{fence[0] if fence else ''}")
        self._begin()

    def _is_plain(self, delta: str) -> bool:
        """Whether a piece is what nearly all are: words inside a line, of which nothing can come."""
        if self._held or self._gap or self._bare or self._endless or not self._line or len(delta) > _CHUNK:
            return False
        if self._line.kind == "code":
            return bool(delta) and "\n" not in delta and "\r" not in delta
        if not _PLAIN.fullmatch(delta) or _PERHAPS.search(delta):
            return False
        return "." not in delta or not ("@" in self._tail or "www" in f"{self._tail[-3:]}{delta}".lower())

    def _plain(self, delta: str) -> str:
        """Write such a piece; blanks at its end wait."""
        words = delta if self._line and self._line.kind == "code" else delta.rstrip(" ")
        written = f"{self._prefix}{self._blanks}{words}"
        self._prefix, self._blanks = "", delta[len(words) :]
        self._said = (self._said + (written if self._said else words))[-LONGEST_CLAIM:]
        self._tail = (self._tail + written)[-80:]
        if len(self._shown) < LONGEST_START:
            self._shown = (self._shown + written)[:LONGEST_START]
        self._begun = True
        return written

    def _work(self) -> Iterator[Source | Text]:
        held = self._held
        if "\r" in held:
            keep = "\r" if held.endswith("\r") and not self._final else ""
            self._held = held.removesuffix(keep).replace("\r\n", "\n").replace("\r", "\n")
        else:
            keep = ""
        while self._held and self._step():
            pass
        self._held += keep
        if self._final:
            self._blanks = "" if self._gap else self._blanks
            self._flush()
        events, self._events = self._events, []
        text: list[str] = []
        for event in events:
            if isinstance(event, Text):
                text.append(event.delta)
            else:
                yield event
        if text:
            yield Text("".join(text))

    def _step(self) -> bool:
        if self._line is None:
            return self._start_line()
        first = self._held[0]
        if self._endless and self._go_on(first):
            return True
        if self._gap:
            return self._close_gap(first)
        if first == "\n":
            return self._end_line()
        if self._line.kind == "code":
            return self._take(self._held.partition("\n")[0])
        if first in " \t":
            blanks = _BLANKS.match(self._held)
            assert blanks
            if len(self._blanks) > LONGEST_LINK:
                self._flush()
            self._blanks += blanks[0]
            self._held = self._held[blanks.end() :]
            return True
        if first in self.steps:
            step: Callable[[], bool] = getattr(self, self.steps[first])
            return step()
        if not first.isalnum() or self._past[-1:].isalnum():
            pass
        elif found := addresses.BEGINNING.match(self._held):
            return self._address(found[0])
        elif not self._final and any(text.startswith(self._held.lower()) for text in addresses.BEGINNINGS):
            return False
        words = _WORDS.match(self._held)
        piece = words[0] if words else first
        return self._take(piece, f" {piece}" if _OPEN.search(self._past) else piece)

    def _start_line(self) -> bool:
        if not self._before.fence:
            self._held = block_scanner.expanded(self._held)
        start, newline, _ = self._held[: LONGEST_START + 1].partition("\n")
        line = block_scanner.read(self._before, block_scanner.expanded(start), bool(newline) or self._final)
        if line is None:
            if len(self._held) <= LONGEST_START:
                return False
            self._held = f"{self._held[:LONGEST_START]}\n{self._held[LONGEST_START:]}"
            return True
        above = self._shown
        self._shown = ""
        if line.kind in ("blank", "rule", "fence", "delimiter"):
            if line.kind == "delimiter" and (
                self._breaks
                or "\\" in above
                or block_scanner.cells(above) != block_scanner.cells(start[line.prefix :])
                or start[line.prefix :].startswith("- ")
            ):
                # Not a table everywhere, or one that would cut code in two: then it shall be none anywhere.
                line = line._replace(kind="text", continues=True, after=self._before)
                self._prefix = f"{start[: line.prefix]}\\"
                self._held = self._held[line.prefix :]
            else:
                self._line, self._said, self._cells = line, "", ""
                return self._take(start, _SUGGESTIONS.sub(r"\1text", start) if line.kind == "fence" else start)
        elif line.kind != "code":
            self._prefix = self._held[: line.prefix]
            self._held = self._held[line.prefix :]
        if not line.continues:
            self._said, self._cells = "", ""
        self._breaks = False
        self._line = line
        return True

    def _end_line(self) -> bool:
        assert self._line
        self._flush()
        self._put("\n")
        self._said += " "
        self._before, self._line, self._begun = self._line.after, None, False
        self._held = self._held[1:]
        return True

    def _go_on(self, first: str) -> bool:
        """Take more of what is too long to be held back: False when it is over."""
        if self._endless == "address":
            size = addresses.RUN.match(self._held).end()  # type: ignore[union-attr]  # it matches anything
            self._held = self._held[size:]
        elif first == self._endless:
            size = 1
            self._take(first, "\\" + first)
        else:
            size = 0
        if not size:
            self._endless = ""
        return bool(size)

    def _unwrap(self, label: str, size: int) -> bool:
        """Go on with a label alone."""
        if not label.strip():
            return self._vanish(size)
        self._held = label + self._held[size:]
        return self._again()

    def _vanish(self, size: int) -> bool:
        """Leave something out, with the blank before it if a blank or the end of something follows."""
        self._held = self._held[size:]
        self._gap = True
        return True

    def _close_gap(self, first: str) -> bool:
        """Go on behind what vanished; `_work` waits here for the character that follows."""
        if not self._begun:
            self._held = self._held.lstrip(" \t")
            if not self._held:
                return True
            self._gap = False
            return self._again()
        if first in " \t\n" or (first in _CLOSING and not self._bare):
            self._blanks = ""
        self._gap = False
        return True

    def _again(self) -> bool:
        """Read a line anew that begins with something else than it seemed to."""
        if not self._begun and self._line and self._line.kind != "code":
            self._held = self._prefix + self._held
            self._prefix = self._blanks = ""
            self._line = None
        return True

    def _take(self, read: str, written: str | None = None) -> bool:
        """Write a piece of what is held, as it is or in another way."""
        self._held = self._held[len(read) :]
        self._flush()
        self._put(read if written is None else written)
        self._said = (self._said + read)[-LONGEST_CLAIM:]
        return True

    def _take_address(self, address: str) -> bool:
        """Write an address that stays as it is; what follows must not become part of it."""
        self._take(address)
        self._bare = True
        return True

    def _link(self, link: str) -> None:
        self._flush()
        self._put(f" {link}" if re.search(r"(?<!\\)!$", self._tail) else link)  # `!` would make an image of it

    def _flush(self) -> None:
        """Write what waited for the next piece."""
        waiting, self._prefix, self._blanks = self._prefix + self._blanks, "", ""
        if waiting:
            self._put(waiting)
            self._said += " "

    def _put(self, text: str) -> None:
        if text:
            self._bare = False
            self._events.append(Text(text))
            self._tail = (self._tail + text)[-80:]
            self._shown = (self._shown + text)[:LONGEST_START]
            self._begun = True

    @property
    def _past(self) -> str:
        """What the next piece will stand behind."""
        return self._tail + self._prefix + self._blanks

    @abstractmethod
    def _address(self, beginning: str) -> bool:
        """Take an address with this beginning; without one, what would make an address of what was written."""
