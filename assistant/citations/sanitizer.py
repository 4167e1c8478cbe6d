"""Escapes everything in a model's Markdown that could begin a link, an image or HTML. The text is not trusted.

Readers see the same text, since Markdown shows an escaped sign as the sign:

    <img src=x> and `code`   ->   \\<img src=x> and `code`
    an open ` backtick       ->   an open \\` backtick

A subclass may let checked links through. Code passes as it is, but only where every
renderer sees code: in a fence that `block_scanner` finds, or in a span that ends
within its paragraph.
"""

import html
import re
from collections.abc import Mapping
from typing import ClassVar

from assistant.citations import block_scanner
from assistant.citations.addresses import ENTITY
from assistant.citations.block_scanner import Line
from assistant.citations.stream_rewriter import FENCE_MARK, MAX_LINK, StreamRewriter

MAX_CODE_SPAN = 2_000  # characters
_MAX_TICKS = 300
_CODE_END = re.compile(r"`+|(?<!\\)\\*+\|")
_ENTITY_START = re.compile(r"&#?\w{0,32}$")
_ADDRESS_CHARACTER = re.compile(r"[A-Za-z\d:/.@]")
_MAIL_END = re.compile(r"[\w.+-]@[\w.-]+$")
_HOST = re.compile(r"//[\w-]+(?:\.[\w-]+)+")


class Sanitizer(StreamRewriter):
    """Decides about each sign that could begin something. A subclass has the steps for brackets, `<`, `!` and `@`."""

    steps: ClassVar[Mapping[str, str]] = {
        "\\": "_backslash",
        "`": "_ticks",
        "~": "_tildes",
        "<": "_angle",
        "!": "_bang",
        "[": "_square",
        "【": "_other_marker",
        "［": "_other_marker",
        "(": "_round",
        ":": "_colon",
        ";": "_semicolon",
        "/": "_slash",
        ".": "_dot",
        "@": "_at",
        "&": "_ampersand",
        "|": "_pipe",
    }

    # ---- Escapes and entities. ----

    def _backslash(self) -> bool:
        """Keep an escape; drop the backslash before a sign that has a step of its own for addresses."""
        follower = self._pending[1:2]
        if not follower and not self._is_final:
            return False
        if follower == "\n":
            return self._accept("\\")
        if follower and follower in ":/@":
            self._pending = self._pending[1:]
            return True
        if follower == ".":
            if len(self._pending) < 3 and not self._is_final:
                return False
            if self._pending[2:3].isalnum():
                self._pending = self._pending[1:]
                return True
        if follower and follower.isascii() and follower.isprintable() and not (follower.isalnum() or follower == " "):
            return self._accept("\\" + follower)
        return self._accept("\\", "\\\\")

    def _ampersand(self) -> bool:
        """Escape an entity that stands for a character of addresses."""
        if entity := ENTITY.match(self._pending):
            return self._accept("&", "\\&") if _is_address_entity(entity[0]) else self._accept(entity[0])
        if not self._is_final and _ENTITY_START.fullmatch(self._pending):
            return False
        return self._accept("&")

    def _semicolon(self) -> bool:
        """Escape a semicolon that would end such an entity, pieced together after a removal."""
        begun = _ENTITY_START.search(self._preceding)
        return self._accept(";", "\\;" if begun and _is_address_entity(f"{begun[0]};") else ";")

    # ---- Code and tables. ----

    def _ticks(self) -> bool:
        """Keep a code span that ends in sight; escape any other backticks."""
        run = FENCE_MARK.match(self._pending)
        assert run
        size = run.end()
        if size == len(self._pending) and size < _MAX_TICKS and not self._is_final:
            return False
        self._keep_apart("`")
        if size >= _MAX_TICKS:
            self._overlong = "`"
            return self._accept(run[0], "\\`" * size)
        end = self._find_code_end(size)
        if end is None:
            return False
        if end < 0:
            return self._accept(run[0], "\\`" * size)
        code = self._pending[:end]
        self._has_code_across_cells = self._has_code_across_cells or "|" in code or "\n" in code
        return self._accept(code)

    def _find_code_end(self, size: int) -> int | None:
        """Find where the code span ends that begins with `size` backticks: -1 if nowhere, None if more text decides."""
        assert self._line
        text = self._pending[:MAX_CODE_SPAN]
        has_all = self._is_final and len(self._pending) <= MAX_CODE_SPAN  # no character will follow `text`
        is_decidable = self._is_final or len(self._pending) >= MAX_CODE_SPAN
        at, line = size, self._line
        while True:
            newline = text.find("\n", at)
            line_end = len(text) if newline < 0 else newline
            for found in _CODE_END.finditer(text, at, line_end):
                if "|" in found[0]:
                    if self._line.kind == "row" and len(found[0]) != 2:
                        return -1  # the cell ends here, unless one backslash escapes the bar
                elif len(found[0]) == size and (found.end() < len(text) or has_all):
                    return found.end()
            if newline < 0:
                return -1 if is_decidable else None
            if self._line.kind != "text":
                return -1
            next_text, next_newline, _ = text[newline + 1 :].partition("\n")
            next_text = block_scanner.expand_tabs(next_text)
            next_line = block_scanner.scan_line(line.after, next_text, bool(next_newline) or has_all)
            if next_line is None and not is_decidable:
                return None
            if next_line is None or not _continues_paragraph(next_line, next_text):
                return -1
            at, line = newline + 1, next_line

    def _tildes(self) -> bool:
        """Escape what would begin a fence elsewhere."""
        run = FENCE_MARK.match(self._pending)
        assert run
        size = run.end()
        if size < 3 and size == len(self._pending) and not self._is_final:
            return False
        self._keep_apart("~")
        if size < 3:
            return self._accept(run[0])
        self._overlong = "~"
        return self._accept(run[0], "\\~" * size)

    def _keep_apart(self, sign: str) -> None:
        """Put a blank before a run of signs that would join the run behind which something was removed."""
        if self._preceding.endswith(sign):
            self._blanks = " "

    def _pipe(self) -> bool:
        """Begin the next cell of a table's row."""
        self._accept("|")
        if self._line and self._line.kind == "row":
            self._claim_cells += self._claim
            self._claim = ""
        return True

    # ---- Signs inside links and addresses. ----

    def _round(self) -> bool:
        """Escape `(` behind `]`, where it would begin the target of a link."""
        return self._accept("(", "\\(" if self._preceding.endswith("]") else "(")

    def _colon(self) -> bool:
        """Escape `:` behind `]`, where it would define a link; cut off the address behind `mailto:`."""
        if self._preceding.endswith("]"):
            return self._accept(":", "\\:")
        if self._preceding.lower().endswith(("mailto", "xmpp")):
            return self._cut_address_off(":")
        return self._accept(":")

    def _slash(self) -> bool:
        """Cut off the address behind `://`, and behind `//` where a host follows."""
        if self._preceding.endswith(":/"):
            return self._cut_address_off("/")
        if self._pending == "/" and not self._is_final:
            return False
        slashes = "/" * self._preceding.endswith("/") + self._pending[: MAX_LINK + 1]
        if slashes.startswith("//"):
            if not self._is_final and len(slashes) <= MAX_LINK and re.fullmatch(r"[\w./-]*", slashes):
                return False
            if self._preceding.endswith(":") or _HOST.match(slashes):
                return self._address("")
        return self._accept("/")

    def _dot(self) -> bool:
        """Cut off the address behind `www.`, and the rest of a mail address."""
        if self._preceding.lower().endswith("www") or _MAIL_END.search(self._preceding):
            return self._cut_address_off(".")
        return self._accept(".")

    def _cut_address_off(self, sign: str) -> bool:
        """Take the sign, and remove what follows it at once: both would make an address of what is written."""
        if len(self._pending) == 1 and not self._is_final:
            return False
        if self._pending[1:2].strip() and (sign != "." or self._pending[1].isalnum()):
            return self._address("")
        return self._accept(sign)


def _continues_paragraph(line: Line, text: str) -> bool:
    """Whether a line goes on with the paragraph above. A tag or a table's delimiter row ends it for some renderers."""
    start = text[line.prefix :]
    return line.continues and not start.startswith("<") and not block_scanner.is_delimiter(start)


def _is_address_entity(entity: str) -> bool:
    """Whether an entity stands for a character that addresses are made of."""
    character = html.unescape(entity)
    return character != entity and bool(_ADDRESS_CHARACTER.search(character))
