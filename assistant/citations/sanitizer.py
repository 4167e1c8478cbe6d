"""What a model writes is hostile: of its Markdown nothing passes that could be a link, an image or HTML.

What looks like the beginning of one is escaped, in a way that no reader sees,
unless a subclass lets it through. Only code passes as it is, and only where every
renderer sees code: a fence as `assistant.citations.block_scanner` finds it, or a span within one
paragraph; any other fence or backtick is escaped too.
"""

import html
import re
from abc import abstractmethod

from assistant.citations import block_scanner
from assistant.citations.stream_rewriter import LONGEST_LINK, RUN, Rewriter

LONGEST_CODE = 2_000  # characters of a code span
_CODE_END = re.compile(r"`+|\\*\|")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});")
_ENTITY_SO_FAR = re.compile(r"&#?\w{0,32}$")
_JOINS = re.compile(r"[A-Za-z\d:/.@]")  # what an address could be pieced together from
_MAIL_TAIL = re.compile(r"[\w.+-]@[\w.-]+$")
_HOST = re.compile(r"//[\w-]+(?:\.[\w-]+)+")
# What takes the pieces that begin with a sign: the name of a method.
STEPS = {
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


class Escaping(Rewriter):
    """Takes the signs that could begin something. Brackets, angles, `!` and `@` are a subclass's."""

    steps = STEPS

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
            line = block_scanner.read(state, block_scanner.expanded(start), bool(newline) or whole)
            if line is None and not known:
                return None
            if line is None or not line.continues or block_scanner.expanded(start)[line.prefix :].startswith("<"):
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


def _joins(entity: str) -> bool:
    """Whether an entity stands for something that addresses are made of."""
    meant = html.unescape(entity)
    return meant != entity and bool(_JOINS.search(meant))
