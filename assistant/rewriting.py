"""A model's Markdown on its way to the reader, of which nothing passes that could be a link, an image or HTML.

What a model writes is hostile. What looks like the beginning of a link is escaped
here, in a way that no reader sees, unless a subclass lets it through. Only code
passes as it is, and only where every renderer sees code: a fence as
`assistant.layout` finds it, or a span within one paragraph; any other fence or
backtick is escaped too.

The text is read piece by piece. Each piece is decided once and for good, when
enough has arrived; until then it is held back. Decisions look at what was
written last (`_past`), not at what was read, since what vanishes between two
harmless pieces may join them to a harmful one.
"""

import html
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from assistant import addresses, layout
from assistant.events import Source, Text

LONGEST_LINK = 600  # characters of a link or an address that are held back
LONGEST_CODE = 2_000  # characters of a code span
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
_CODE_END = re.compile(r"`+|\\*\|")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});")
_ENTITY_SO_FAR = re.compile(r"&#?\w{0,32}$")
_JOINS = re.compile(r"[A-Za-z\d:/.@]")  # what an address could be pieced together from
_MAIL_TAIL = re.compile(r"[\w.+-]@[\w.-]+$")
_OPEN = re.compile(r"(?:www|[\w.+-]@[\w.-]*)\.$", re.IGNORECASE)  # what a word must not follow
_HOST = re.compile(r"//[\w-]+(?:\.[\w-]+)+")
_CLOSING = ".,;:!?)…。，、；：！？"
# What takes the pieces that begin with a sign: the name of a method.
_STEPS = {
    "\\": "_backslash",
    "`": "_ticks",
    "~": "_tildes",
    "<": "_angle",
    "!": "_bang",
    "[": "_square",
    "【": "_lenticular",
    "(": "_round",
    ":": "_colon",
    ";": "_semicolon",
    "/": "_slash",
    ".": "_dot",
    "@": "_at",
    "&": "_ampersand",
    "|": "_pipe",
}


class Rewriter(ABC):
    """Rewrites a streamed answer.

    Each step takes the next piece off what is held (`_held`) and writes what it
    becomes; it returns False, and does nothing, when it takes more to decide.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._held = ""
        self._final = False
        self._events: list[Source | Text] = []
        self._tail = ""  # the end of what was written
        self._before = layout.State()  # what is open above the line
        self._line: layout.Line | None = None  # the line that is being read; None at its beginning
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
        if first in _STEPS:
            step: Callable[[], bool] = getattr(self, _STEPS[first])
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
            self._held = layout.expanded(self._held)
        start, newline, _ = self._held[: LONGEST_START + 1].partition("\n")
        line = layout.read(self._before, layout.expanded(start), bool(newline) or self._final)
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
                or layout.cells(above) != layout.cells(start[line.prefix :])
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

    def _backslash(self) -> bool:
        follower = self._held[1:2]
        if not follower and not self._final:
            return False
        if follower == "\n":
            return self._take("\\")
        if follower and follower in ":/@":
            self._held = self._held[1:]
            return True
        if follower == ".":
            if len(self._held) < 3 and not self._final:
                return False
            if self._held[2:3].isalnum():
                self._held = self._held[1:]
                return True
        if follower and follower.isascii() and follower.isprintable() and not (follower.isalnum() or follower == " "):
            return self._take("\\" + follower)
        return self._take("\\", "\\\\")

    def _ticks(self) -> bool:
        run = RUN.match(self._held)
        assert run
        size = run.end()
        if size == len(self._held) and size < 300 and not self._final:
            return False
        end: int | None = -1
        if size < 300:
            end = self._code_end(size)
            if end is None:
                return False
        else:
            self._endless = "`"
        if end == -1:
            return self._take("`" * size, "\\`" * size)
        code = self._held[:end]
        self._breaks = self._breaks or "|" in code or "\n" in code
        return self._take(code)

    def _code_end(self, size: int) -> int | None:
        """Where the code span ends that begins with `size` backticks: -1 if nowhere, None if that is not known yet."""
        assert self._line
        text = self._held[:LONGEST_CODE]
        whole = self._final and len(self._held) <= LONGEST_CODE
        known = self._final or len(self._held) >= LONGEST_CODE
        at, state, kind = size, self._line.after, self._line.kind
        while True:
            stop = text.find("\n", at)
            end = len(text) if stop < 0 else stop
            for run in _CODE_END.finditer(text, at, end):
                if "|" in run[0]:
                    if kind == "row" and len(run[0]) != 2:
                        return -1
                elif len(run[0]) == size and (run.end() < len(text) or whole):
                    return run.end()
            if stop < 0:
                return -1 if known else None
            if kind != "text":
                return -1
            start, newline, _ = text[stop + 1 :].partition("\n")
            line = layout.read(state, layout.expanded(start), bool(newline) or whole)
            if line is None and not known:
                return None
            if line is None or not line.continues or layout.expanded(start)[line.prefix :].startswith("<"):
                return -1  # HTML would end the paragraph
            at, state = stop + 1, line.after

    def _tildes(self) -> bool:
        run = RUN.match(self._held)
        assert run
        size = run.end()
        if size < 3:
            return self._take(run[0]) if size < len(self._held) or self._final else False
        self._endless = "~"
        return self._take(run[0], "\\~" * size)

    def _round(self) -> bool:
        return self._take("(", "\\(" if self._past.endswith("]") else "(")

    def _semicolon(self) -> bool:
        begun = _ENTITY_SO_FAR.search(self._past)
        return self._take(";", "\\;" if begun and _joins(f"{begun[0]};") else ";")

    def _colon(self) -> bool:
        if self._past.endswith("]"):
            return self._take(":", "\\:")
        if self._past.lower().endswith(("mailto", "xmpp")):
            return self._cut_off(":")
        return self._take(":")

    def _slash(self) -> bool:
        if self._past.endswith(":/"):
            return self._cut_off("/")
        if self._held == "/" and not self._final:
            return False
        doubled = "/" * self._past.endswith("/") + self._held[: LONGEST_LINK + 1]
        if doubled.startswith("//"):
            if not self._final and len(doubled) <= LONGEST_LINK and re.fullmatch(r"[\w./-]*", doubled):
                return False
            if self._past.endswith(":") or _HOST.match(doubled):
                return self._address("")
        return self._take("/")

    def _dot(self) -> bool:
        if self._past.lower().endswith("www") or _MAIL_TAIL.search(self._past):
            return self._cut_off(".")
        return self._take(".")

    def _cut_off(self, sign: str) -> bool:
        """Take the sign that would make an address of what was written, and of what follows it at once."""
        if len(self._held) == 1 and not self._final:
            return False
        if self._held[1:2].strip() and (sign != "." or self._held[1].isalnum()):
            return self._address("")
        return self._take(sign)

    def _ampersand(self) -> bool:
        if entity := _ENTITY.match(self._held):
            return self._take("&", "\\&") if _joins(entity[0]) else self._take(entity[0])
        if not self._final and _ENTITY_SO_FAR.fullmatch(self._held):
            return False
        return self._take("&")

    def _pipe(self) -> bool:
        self._take("|")
        if self._line and self._line.kind == "row":
            self._cells += self._said
            self._said = ""
        return True

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
    def _angle(self) -> bool:
        """Take what begins with `<`."""

    @abstractmethod
    def _bang(self) -> bool:
        """Take what begins with `!`."""

    @abstractmethod
    def _square(self) -> bool:
        """Take what begins with `[`."""

    @abstractmethod
    def _lenticular(self) -> bool:
        """Take what begins with `【`."""

    @abstractmethod
    def _at(self) -> bool:
        """Take what begins with `@`."""

    @abstractmethod
    def _address(self, beginning: str) -> bool:
        """Take an address with this beginning; without one, what would make an address of what was written."""


def _joins(entity: str) -> bool:
    """Whether an entity stands for something that addresses are made of."""
    meant = html.unescape(entity)
    return meant != entity and bool(_JOINS.search(meant))
