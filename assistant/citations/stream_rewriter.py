"""Rewrites Markdown while it streams. A subclass decides what each piece becomes; this class waits and writes.

`feed` gets the text in arbitrary cuts. It takes piece after piece (a word, a sign, a
link) off the pending text. It decides a piece once and for good, as soon as enough
text has arrived. With a subclass that replaces `[2]` by a link:

    feed("See [")  ->  "See"
    feed("2].")    ->  " [1](https://docs.example/b)."

Decisions look at the text that was written before (`_preceding`), not at what was
read: when a piece is removed, its neighbours must not join to something harmful.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from string import ascii_lowercase
from typing import ClassVar

from assistant.citations import addresses, block_scanner
from assistant.citations.block_scanner import BlockState, Line
from assistant.wire.events import Source, Text

MAX_LINK = 600  # characters of a link or an address that wait for their end
MAX_LINE_START = 400  # characters of a line that wait until its kind is known
MAX_CLAIM = 600
_CHUNK = 4_096  # a long delta is processed in chunks, so that it costs no more than many short ones
_WRITTEN_TAIL = 80
# Most of a stream: words inside a line, also behind a tilde (`~5 MB`). But the last may be the beginning of an address.
_PLAIN_TEXT = re.compile(r" {0,5}~?[\w,.?'\"*’–—-][\w ,.?'\"*’–—-]*")
_ADDRESS_STARTS = frozenset(text[:end] for text in addresses.PREFIXES for end in range(1, len(text)))
_LONGEST_START = max(map(len, addresses.PREFIXES))
_ADDRESS_INITIALS = frozenset("".join(text[0] + text[0].upper() for text in addresses.PREFIXES))
_WORD = re.compile(r"[^\W_]+|[^\w\s\\`<>\[\]!&@|():;/.~【]+|_+")
_SUGGESTIONS_FENCE = re.compile(
    r"(?<![`~])([`~]{3,}+[ \t]*+)suggestions\b", re.IGNORECASE
)  # only the service may write this block
_MARKERS = " \t>"  # of quotes, and the indentation of list items
_BLANKS = re.compile(r"[ \t]+")
FENCE_MARK = re.compile(r"`+|~+")
_UNFINISHED_HOST = re.compile(r"(?:www|[\w.+-]@[\w.-]*)\.$", re.IGNORECASE)  # a word behind it would make an address
_CLOSING = ".,;:!?)…。，、；：！？"


class StreamRewriter(ABC):
    """Rewrites an answer while it streams, though a link or a citation may arrive in several chunks.

    `steps` maps a character, such as `[`, to the method that handles text which begins with it.
    Such a method takes its piece off `_pending` and writes what replaces it. While it needs more
    text to decide, it changes nothing and returns False.
    """

    steps: ClassVar[Mapping[str, str]]

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        # What was read.
        self._pending = ""  # not decided yet
        self._is_final = False  # no more text will come
        self._overlong = ""  # "`", "~" or "address": what is too long to wait for its end, and still goes on
        # What was written.
        self._new_sources: list[Source] = []  # since the last call
        self._new_text: list[str] = []  # since the last call
        self._written_tail = ""
        self._blanks = ""  # blanks that wait for the piece behind them
        self._after_removal = False  # a piece was removed just here
        self._after_address = False  # an address was written last
        # The line.
        self._state_above = BlockState()
        self._line: Line | None = None  # None at the beginning of a line, until its kind is known
        self._line_prefix = ""  # its markers and indentation, not written yet
        self._line_written = ""  # its beginning as it was written; it may be the header of a table
        self._is_line_begun = False  # something of it was written
        self._has_code_across_cells = False  # a table would cut code of the line in two
        # The claim that a marker may follow.
        self._claim = ""  # the text of the paragraph, list item or cell so far
        self._claim_cells = ""  # the cells before it in a row

    def feed(self, delta: str) -> list[Source | Text]:
        """Rewrite the next piece of a stream. What cannot be decided yet waits for the next call."""
        if self._is_plain_text(delta):
            return [Text(self._write_plain_text(delta))]
        events: list[Source | Text] = []
        for start in range(0, len(delta), _CHUNK):
            self._pending += delta[start : start + _CHUNK]
            events += self._process()
        return events

    def end(self) -> list[Source | Text]:
        """Rewrite the rest. Closes fenced code that is still open, so that text after the answer is not code."""
        self._is_final = True
        events = self._process()
        state = self._line.after if self._line else self._state_above
        if state.fence:
            indent = "".join(" " * columns if columns else "> " for columns in state.containers)
            fence = FENCE_MARK.search(state.fence)
            events.append(Text(f"{'' if self._line is None else chr(10)}{indent}{fence[0] if fence else ''}"))
        self._reset()
        return events

    # ---- The fast path. ----

    def _is_plain_text(self, delta: str) -> bool:
        """Whether a delta is only words inside a line, or code, that need no decision."""
        if self._pending or self._after_removal or self._after_address or self._overlong or not self._line:
            return False
        if len(delta) > _CHUNK:
            return False
        if self._line.kind == "code":
            return bool(delta) and "\n" not in delta and "\r" not in delta
        if not _PLAIN_TEXT.fullmatch(delta):
            return False
        if delta[-1:].isalpha() and self._ends_with_address_start(delta):
            return False
        return "." not in delta or not (
            "@" in self._written_tail or "www" in f"{self._written_tail[-3:]}{delta}".lower()
        )

    @staticmethod
    def _ends_with_address_start(delta: str) -> bool:
        word = delta[-_LONGEST_START:].lower().rpartition(" ")[2]  # most deltas are a word with a blank before it
        return word[len(word.rstrip(ascii_lowercase)) :] in _ADDRESS_STARTS

    def _write_plain_text(self, delta: str) -> str:
        """Return the output for plain text, after the prefix and blanks that were held back. Blanks at its end wait."""
        words = delta if self._line and self._line.kind == "code" else delta.rstrip(" ")
        written = f"{self._line_prefix}{self._blanks}{words}"
        self._line_prefix, self._blanks = "", delta[len(words) :]
        self._claim = (self._claim + (written if self._claim else words))[-MAX_CLAIM:]
        self._written_tail = (self._written_tail + written)[-_WRITTEN_TAIL:]
        if len(self._line_written) < MAX_LINE_START:
            self._line_written = (self._line_written + written)[:MAX_LINE_START]
        self._is_line_begun = True
        return written

    # ---- Piece by piece. ----

    def _process(self) -> list[Source | Text]:
        """Rewrite the pending text as far as it can be decided now. Returns its sources, then its text as one event."""
        carriage_return = ""
        if "\r" in self._pending:
            if self._pending.endswith("\r") and not self._is_final:
                carriage_return = "\r"  # a line feed may follow
            pending = self._pending.removesuffix(carriage_return)
            self._pending = pending.replace("\r\n", "\n").replace("\r", "\n")
        while self._pending and self._step():
            pass
        self._pending += carriage_return
        if self._is_final:
            self._blanks = "" if self._after_removal else self._blanks
            self._flush_blanks()
        events: list[Source | Text] = [*self._new_sources]
        self._new_sources.clear()
        if self._new_text:
            events.append(Text("".join(self._new_text)))
            self._new_text.clear()
        return events

    def _step(self) -> bool:
        if self._line is None:
            return self._start_line()
        first = self._pending[0]
        if self._overlong and self._continue_overlong(first):
            return True
        if self._after_removal:
            return self._continue_after_removal(first)
        if first == "\n":
            return self._end_line()
        if self._line.kind == "code":
            return self._accept(self._pending.partition("\n")[0])
        if first in " \t":
            return self._hold_blanks()
        if first in self.steps:
            step: Callable[[], bool] = getattr(self, self.steps[first])
            return step()
        return self._take_word(first)

    def _hold_blanks(self) -> bool:
        blanks = _BLANKS.match(self._pending)
        assert blanks
        if len(self._blanks) > MAX_LINK:
            self._flush_blanks()
        self._blanks += blanks[0]
        self._pending = self._pending[blanks.end() :]
        return True

    def _take_word(self, first: str) -> bool:
        """Take a word, or the address that begins with it."""
        if first in _ADDRESS_INITIALS and not self._preceding[-1:].isalnum():
            if prefix := addresses.PREFIX.match(self._pending):
                return self._address(prefix[0])
            if not self._is_final and any(text.startswith(self._pending.lower()) for text in addresses.PREFIXES):
                return False
        word = _WORD.match(self._pending)
        piece = word[0] if word else first
        has_dot = "." in self._preceding[-2:]  # the look for a host would take as long as all else for a word
        return self._accept(piece, f" {piece}" if has_dot and _UNFINISHED_HOST.search(self._preceding) else piece)

    # ---- Lines. ----

    def _start_line(self) -> bool:
        """Find the kind of the line, and take its prefix; a line without words is taken whole."""
        if not self._state_above.fence:
            self._pending = block_scanner.expand_tabs(self._pending)
        start, newline, _ = self._pending[: MAX_LINE_START + 1].partition("\n")
        is_complete = bool(newline) or self._is_final
        line = block_scanner.scan_line(self._state_above, block_scanner.expand_tabs(start), is_complete)
        if line is None:
            if len(self._pending) <= MAX_LINE_START:
                return False
            self._pending = f"{self._pending[:MAX_LINE_START]}\n{self._pending[MAX_LINE_START:]}"
            return True
        header, self._line_written = self._line_written, ""
        if self._is_table_somewhere(line, start, header):
            at = line.prefix if line.kind == "text" else len(start) - len(start.lstrip(_MARKERS))
            if line.kind != "text":
                line = line._replace(kind="text", continues=True, after=self._state_above)
            self._line_prefix = f"{start[:at]}\\"  # escaped: a table for no renderer
            self._pending = self._pending[at:]
        elif line.kind in ("blank", "rule", "fence", "delimiter"):
            self._line, self._claim, self._claim_cells = line, "", ""
            return self._accept(start, _write_fence(start) if line.kind == "fence" else start)
        elif line.kind != "code":
            self._line_prefix = self._pending[: line.prefix]
            self._pending = self._pending[line.prefix :]
        if not line.continues:
            self._claim, self._claim_cells = "", ""
        self._has_code_across_cells = False
        self._line = line
        return True

    def _is_table_somewhere(self, line: block_scanner.Line, start: str, header: str) -> bool:
        """Whether some Markdown renderers read this line and the one above as a table, and others do not.

        Renderers look for blocks in different orders: some find tables before lists, quotes and headings. Also true
        where all see a table, but with other cells.
        """
        row = start.lstrip(_MARKERS)
        if line.kind == "rule":
            has_bar = "|" in header or len(header) == MAX_LINE_START  # of a longer line we do not see all
            return has_bar and not row.rstrip(" \t").strip("-") and not self._state_above.table
        if line.kind == "text":
            return block_scanner.is_delimiter(start[line.prefix :])
        return line.kind == "delimiter" and (
            self._has_code_across_cells
            or "\\" in header
            or block_scanner.count_columns(header) != block_scanner.count_columns(row)
            or row.startswith("- ")
        )

    def _end_line(self) -> bool:
        assert self._line
        self._flush_blanks()
        self._write("\n")
        self._claim += " "
        self._state_above, self._line, self._is_line_begun = self._line.after, None, False
        self._pending = self._pending[1:]
        return True

    def _rescan_line(self) -> bool:
        """Scan a line again if nothing of it was written: after a change it may be another kind of line."""
        if not self._is_line_begun and self._line and self._line.kind != "code":
            self._pending = self._line_prefix + self._pending
            self._line_prefix = self._blanks = ""
            self._line = None
        return True

    # ---- What a step does with its piece. ----

    def _accept(self, read: str, written: str | None = None) -> bool:
        """Take `read` off the pending text and write it, or `written` in its place."""
        self._pending = self._pending[len(read) :]
        self._flush_blanks()
        self._write(read if written is None else written)
        self._claim = (self._claim + read)[-MAX_CLAIM:]
        return True

    def _accept_address(self, address: str) -> bool:
        """Write an address as it is. What follows must not become part of it."""
        self._accept(address)
        self._after_address = True
        return True

    def _insert_link(self, link: str) -> None:
        """Write a link of ours, which is no part of the claim."""
        self._flush_blanks()
        is_after_bang = re.search(r"(?<!\\)!$", self._written_tail)  # `!` would make an image of the link
        self._write(f" {link}" if is_after_bang else link)

    def _replace_by_label(self, label: str, size: int) -> bool:
        """Replace a link of `size` characters by its label, which is then read like other text."""
        if not label.strip():
            return self._remove(size)
        self._pending = label + self._pending[size:]
        return self._rescan_line()

    def _remove(self, size: int) -> bool:
        """Leave out the next characters. `_continue_after_removal` cares for the blank before them."""
        self._pending = self._pending[size:]
        self._after_removal = True
        return True

    def _continue_after_removal(self, first: str) -> bool:
        """Leave out the blank before a removed piece as well, if a blank or closing punctuation follows."""
        if not self._is_line_begun:
            self._pending = self._pending.lstrip(" \t")
            if not self._pending:
                return True
            self._after_removal = False
            return self._rescan_line()
        if first in " \t\n" or (first in _CLOSING and not self._after_address):
            self._blanks = ""
        self._after_removal = False
        return True

    def _continue_overlong(self, first: str) -> bool:
        """Take more of what is too long to wait for its end. False when it is over."""
        if self._overlong == "address":
            characters = addresses.CHARACTERS.match(self._pending)
            assert characters
            self._pending = self._pending[characters.end() :]
            goes_on = characters.end() > 0
        else:
            goes_on = first == self._overlong
            if goes_on:
                self._accept(first, "\\" + first)
        if not goes_on:
            self._overlong = ""
        return goes_on

    # ---- Writing. ----

    def _flush_blanks(self) -> None:
        """Write the prefix of the line and the blanks that waited."""
        waiting, self._line_prefix, self._blanks = self._line_prefix + self._blanks, "", ""
        if waiting:
            self._write(waiting)
            self._claim += " "

    def _write(self, text: str) -> None:
        if text:
            self._after_address = False
            self._new_text.append(text)
            self._written_tail = (self._written_tail + text)[-_WRITTEN_TAIL:]
            self._line_written = (self._line_written + text)[:MAX_LINE_START]
            self._is_line_begun = True

    @property
    def _preceding(self) -> str:
        """The end of the text that the next piece will follow."""
        return self._written_tail + self._line_prefix + self._blanks

    @abstractmethod
    def _address(self, prefix: str) -> bool:
        """Take an address that begins with `prefix`.

        Without a prefix: take the text that would make an address of what is already written.
        """


def _write_fence(line: str) -> str:
    """The first or last line of a fence. Some renderers would begin a table with a line that has a bar."""
    return _SUGGESTIONS_FENCE.sub(r"\1text", line).replace("|", " ")
