"""Pump strings for regular expressions: a prefix and a piece that is repeated, from the tree of the parsed pattern.

A pattern that backtracks needs time with the square of such a text's length, or worse. The pieces are the characters
that the pattern names, pairs of them, and the shortest texts that match its parts.
"""

import itertools
import re
import re._constants as kinds  # type: ignore[import-not-found,unused-ignore]
import re._parser as parser  # type: ignore[import-not-found,unused-ignore]
from collections.abc import Iterable, Iterator
from typing import Any

CANDIDATES = "a0A _-.\n\t/:<>[](){}\"'`\\|@!#*~=+,;&%$^?é中。"  # of which one is in each class of characters
MAX_PAIRED = 12  # characters of a pattern whose pairs are pumps
MIN_REPEATS = 30  # a part that may be repeated less often cannot take long
_REPEATS = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)
_CLASSES = {
    kinds.CATEGORY_DIGIT: r"\d", kinds.CATEGORY_NOT_DIGIT: r"\D", kinds.CATEGORY_SPACE: r"\s",
    kinds.CATEGORY_NOT_SPACE: r"\S", kinds.CATEGORY_WORD: r"\w", kinds.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def pumps(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    """The prefixes and pieces for a pattern."""
    source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    walk = _Walk()
    walk.visit(parser.parse(source, pattern.flags), "")
    found = [("", character) for character in walk.characters]
    found += [("", f"{a}{b}") for a, b in itertools.permutations(list(walk.characters)[:MAX_PAIRED], 2)]
    for cut in walk.cuts:
        found += [("", cut + more) for more in ("", "a", " ", "\n")]
    for prefix, pieces in walk.repeats:
        for piece in pieces:
            found += [(prefix, piece), ("", prefix + piece), (prefix, f"{piece}\n"), (prefix, f"{piece} ")]
        found += [(prefix, character) for character in list(walk.characters)[:MAX_PAIRED]]
    return list(dict.fromkeys((prefix, piece) for prefix, piece in found if piece))


class _Walk:
    """A walk through a pattern, with what it found."""

    def __init__(self) -> None:
        self.characters: dict[str, None] = dict.fromkeys("a ")
        self.cuts: dict[str, None] = {}  # texts that match the pattern up to one of its parts
        self.repeats: list[tuple[str, set[str]]] = []  # what matches before a repeated part, and what matches it
        self._groups: dict[int, str] = {}

    def visit(self, parts: Iterable[tuple[Any, Any]], prefix: str) -> None:
        for kind, value in parts:
            if kind in (kinds.LITERAL, kinds.IN):
                self.characters.update(dict.fromkeys(itertools.islice(_members(kind, value), 6)))
            if kind in _REPEATS:
                least, most, inner = value
                if most > MIN_REPEATS:
                    self.repeats.append((prefix, {*self._pieces(inner)} - {""}))
                self.visit(inner, prefix)
                if least == 0:
                    self.cuts[prefix + self._match(inner)] = None
            elif kind is kinds.BRANCH:
                for branch in value[1]:
                    self.visit(branch, prefix)
            elif kind is kinds.SUBPATTERN:
                self.visit(value[3], prefix)
            elif kind is kinds.ATOMIC_GROUP:
                self.visit(value, prefix)
            elif kind in (kinds.ASSERT, kinds.ASSERT_NOT):
                self.visit(value[1], prefix if value[0] > 0 else "")
            prefix += self._match([(kind, value)])
            self.cuts[prefix] = None

    def _pieces(self, inner: Any) -> Iterator[str]:
        """Texts that match a repeated part."""
        yield self._match(inner)
        for kind, value in inner:
            if kind is kinds.ANY:
                yield from "a "
            elif kind is kinds.IN:
                yield from itertools.islice(_members(kind, value), 8)
            elif kind is kinds.BRANCH:
                yield from map(self._match, value[1])
            elif kind is kinds.SUBPATTERN:
                yield from self._pieces(value[3])

    def _match(self, parts: Iterable[tuple[Any, Any]]) -> str:
        """A short text that matches these parts, if looking around is ignored."""
        text = ""
        for kind, value in parts:
            if kind in (kinds.LITERAL, kinds.NOT_LITERAL, kinds.IN, kinds.ANY):
                text += next(_members(kind, value))
            elif kind is kinds.BRANCH:
                text += self._match(value[1][0])
            elif kind is kinds.SUBPATTERN:
                self._groups[value[0]] = self._match(value[3])
                text += self._groups[value[0]]
            elif kind is kinds.ATOMIC_GROUP:
                text += self._match(value)
            elif kind in _REPEATS:
                text += self._match(value[2]) * value[0]
            elif kind is kinds.GROUPREF:
                text += self._groups.get(value, "")
        return text


def _members(kind: Any, value: Any) -> Iterator[str]:
    """Characters that match a literal or a class of characters."""
    if kind is kinds.LITERAL:
        yield chr(value)
    elif kind is kinds.NOT_LITERAL:
        yield "b" if value == ord("a") else "a"
    elif kind is kinds.ANY:
        yield "a"
    elif value[0][0] is not kinds.NEGATE:
        for inner, item in value:
            if inner is kinds.CATEGORY:
                yield from (candidate for candidate in CANDIDATES if re.match(_CLASSES[item], candidate))
            else:
                yield chr(item if inner is kinds.LITERAL else item[0])
    else:
        yield from (candidate for candidate in CANDIDATES if not any(_is_in(candidate, *item) for item in value[1:]))
        yield "\u4e00"


def _is_in(character: str, kind: Any, value: Any) -> bool:
    if kind is kinds.CATEGORY:
        return bool(re.match(_CLASSES[value], character))
    return ord(character) == value if kind is kinds.LITERAL else bool(value[0] <= ord(character) <= value[1])
