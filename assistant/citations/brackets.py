"""Parses what a square bracket begins in a model's Markdown: a citation marker, a link, or nothing special.

    "[2]", "[^1, 3]", "【2†source】"    Marker([2]), Marker([1, 3]), Marker([2])
    "[doc 2]", "[Quelle 2]", "[第2段]"  Marker([2])
    "[guide](https://a.example)"       Link("guide", "https://a.example")
    "[guide][g]"                       Reference("guide")
    "[g]: https://a.example"           Definition()
    "[^1]: The page Install"           Definition()
    "[ ] box"                          Literal()

`parse` gets the text from the bracket on. The text may be the beginning of a
stream: the result is None until enough of it is there. `parse_other` does the same
for the other signs around a marker: `【2】`, `［2］`, `\\[2\\]`, `(passage 2)`, and `(2)`.
"""

import re
from typing import NamedTuple

from assistant.citations.stream_rewriter import FENCE_MARK

_MAX_DEPTH = 8  # brackets within brackets
_MAX_OTHER = 150  # characters of a marker in 【】
# What models write before the number of a passage, in the languages of the service's own sentences.
LABELS = (
    r"(?:passages?|sources?|citations?|cite|documents?|docs?|references?|refs?|ids?|excerpts?|quellen?|abschnitte?|"
    r"pasajes?|fuentes?|extraits?|passaggi[o]?|font[ei]|passagens?|trechos?|bron(?:nen)?)"
    r"(?:\s{1,3}(?:numbers?|nos?\.|nr\.?|n[°º]))?[\s.:#_-]{0,3}"
)
_NUMBERS = rf"\d{{1,3}}(?:\s{{0,3}}(?:[,;&–-]|and)\s{{0,3}}(?:{LABELS})?\d{{1,3}}){{0,20}}"
_MARKER = re.compile(
    rf"\[\s{{0,3}}(?:[\^#]|{LABELS})?({_NUMBERS})\.?\s{{0,3}}\]|\[第?\s?(\d{{1,3}})\s?[段条條页頁章节]落?\]",
    re.IGNORECASE,
)
_OTHER_MARKER = re.compile(
    rf"【(?:{LABELS}|第)?({_NUMBERS})[段条條页頁]?(?::\d{{1,3}})?(?:†[^】\n]{{0,100}})?】"
    rf"|［\s{{0,3}}(?:{LABELS}|第)?({_NUMBERS})[段条條页頁]?\s{{0,3}}］"
    rf"|\\\[\s{{0,3}}({_NUMBERS})\s{{0,3}}\\\]"
    rf"|\((?:passages?|sources?|citations?|quellen?|fuentes?|fontes?|bron)(?:\s(?:numbers?|nr\.))?\s({_NUMBERS})\)"
    r"|\((\d{1,2})\)",
    re.IGNORECASE,
)
_PERHAPS_OTHER = re.compile(
    r"\\(?:\[[\d\s,;&–-]{0,30}\\?)?|\((?:[a-z]{0,9}(?:\s[a-z]{0,7}\.?)?\s?)?(?:\d[\d\s,;&adn–-]{0,30})?", re.IGNORECASE
)
_PLAIN_NUMBERS = re.compile(r"\[[\d\s,–-]+\]")
_MAX_CITED = 99  # a greater number is no passage
_TARGET = re.compile(r"\(((?:[^()\\\n]|\\.|\((?:[^()\\\n]|\\.)*\))*)\)")
_TITLE = r"""(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\))"""
_LINK_TARGET = re.compile(
    rf"\([ \t]*+(?:(?:<([^<>\n]*)>|([^\s<]\S*?))(?:[ \t]++{_TITLE})?|(?<=[ \t]){_TITLE}|)[ \t]*+\)$"
)
_KEY_BEFORE = re.compile(r"""["'\w]["']\s?:\s?$|=\s?$""")
_VALUE_BEFORE = re.compile(
    rf"""{_KEY_BEFORE.pattern}|\w\(\s?$|\[\s?$|\],\s?$|\b(?:lists?|arrays?|tuples?|vectors?|intervals?|ranges?|sets?|returns?|yields?|prints?|gives?|equals?|is|are|be|becomes?|between|values)\s$""",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"\[([^\[\]\n]{0,100})\]")
_MAX_REFERENCE = 100
_DEFINITION = re.compile(
    r"\[[^\[\]\n]{1,100}\]:[ \t]*(<[^<>\n]*>|\S+)(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$"
)
_NO_DEFINITION = re.compile(r"\[[^\[\]]*\]:[ \t]*\S+[ \t]+[^\s\"'(]")
_ADDRESS = re.compile(r"(?:[a-z][a-z\d+.-]*:|//|www\.|[/.]|.*[/.])", re.IGNORECASE)
_TOKEN = re.compile(r"\\.|`+|\[|\]|[^\\`\[\]\n]+|\\", re.DOTALL)


class Marker(NamedTuple):
    """A citation: the numbers of passages, from 1. `size` is the length of its text, as in all results."""

    numbers: list[int]
    size: int


class Link(NamedTuple):
    """A link, or an image if `!` stands before it."""

    label: str
    address: str
    size: int


class Reference(NamedTuple):
    """A link whose address is defined elsewhere. `written_size` includes a marker in place of the name."""

    label: str
    size: int
    written_size: int


class Definition(NamedTuple):
    """A line that defines the address of references, or what the marker `[^1]` stands for: then it has its numbers."""

    size: int
    marker: Marker | None = None


class Literal(NamedTuple):
    """A bracket that begins nothing."""


Bracket = Marker | Link | Reference | Definition | Literal


def parse(text: str, is_complete: bool, *, is_image: bool, may_define: bool, may_refer: bool) -> Bracket | None:
    """Parse a text that begins with `[` and has no line break. None if more text could change the result.

    `may_define`: the bracket begins a line that does not continue a paragraph.
    `may_refer`: no letter or digit stands before the bracket, as in `a[0][1]`.
    """
    close = _find_closing(text)
    if close is None:
        return Literal() if is_complete else None
    if close < 0:
        return Literal()
    follower = text[close : close + 1]
    if not follower and not is_complete:
        return None
    marker = _MARKER.fullmatch(text, 0, close)
    if follower == ":" and may_define:
        if not is_complete and (marker or not _NO_DEFINITION.match(text)):
            return None
        if marker:
            return Definition(len(text), Marker(_numbers_of(marker), close + 1))
        if (definition := _DEFINITION.match(text)) and _ADDRESS.match(definition[1]):
            return Definition(len(text))
    if follower == "(":
        target = _TARGET.match(text, close)
        if target is None and not is_complete:
            return None
        if marker and not (is_image and target):
            return Marker(_numbers_of(marker), target.end() if target else close)
        if target and (parts := _LINK_TARGET.fullmatch(target[0])):
            address = parts[1] if parts[1] is not None else parts[2] or ""
            return Link(text[1 : close - 1], address, target.end())
        return Literal()
    if marker:
        return Marker(_numbers_of(marker), close)
    if follower == "[" and may_refer:
        name = _REFERENCE.match(text, close)
        if name is None and not is_complete and len(text) - close <= _MAX_REFERENCE:
            return None
        if name:
            is_marker = _MARKER.fullmatch(name[0])  # then it stays, as a citation of its own
            return Reference(text[1 : close - 1], close if is_marker else name.end(), name.end())
    return Literal()


def parse_other(text: str, is_final: bool) -> Marker | Literal | None:
    """Parse a text that begins with `【`, `［`, `(` or a backslash, as some models write markers."""
    if marker := _OTHER_MARKER.match(text):
        return Marker(_numbers_of(marker), marker.end())
    if is_final:
        return Literal()
    if text[0] in "(\\":
        return None if _PERHAPS_OTHER.fullmatch(text) else Literal()
    return Literal() if len(text) >= _MAX_OTHER or re.search("[】］\n]", text) else None


def are_numbers(written: str, before: str, after: str) -> bool:
    """Whether a marker is rather numbers of the answer: `[0, 1]`, `[0, 100]`, `rows[0]`, `"ids": [1, 2]`, `[0-9]+`.

    `before` is the end of the text before it, `after` the next character.
    """
    if not _PLAIN_NUMBERS.fullmatch(written):
        return False
    numbers = [int(number) for number in re.findall(r"\d+", written)]
    is_list = len(numbers) > 1
    if max(numbers) > _MAX_CITED or (0 in numbers and (is_list or before[-1:].isalnum())):
        return True
    return ("-" in written and after in "+*?{") or bool(
        _VALUE_BEFORE.search(before) if is_list else _KEY_BEFORE.search(before)
    )


def plain_label(label: str) -> str:
    """The label of a link that stays, without anything that could be another link or a citation; may be empty."""
    if re.fullmatch(r"`[^`|\n]+`", label):
        return label
    label = re.sub(r"!?\[([^\[\]]*)\](?:\([^()]*\))?", r"\1", label)
    label = " ".join(re.sub(r"[\[\]<>()\\`|&!~]", "", label).split())
    if "/" in label or "@" in label or "www." in label.lower() or label.isdigit():
        return ""
    return label


def _find_closing(text: str) -> int | None:
    """Find the position behind the bracket that closes the first one: -1 if there is none, None if more text decides.

    Code spans bind tighter than brackets. A code span that does not end in the text leaves the bracket open.
    """
    depth = at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if not token:
            return None
        at = token.end()
        if token[0][0] == "`":
            end = next((run.end() for run in FENCE_MARK.finditer(text, at) if run[0] == token[0]), 0)
            if not end or end == len(text):
                return None
            at = end
        elif token[0] == "[":
            depth += 1
            if depth > _MAX_DEPTH:
                return -1
        elif token[0] == "]":
            depth -= 1
            if not depth:
                return at
    return None


def _numbers_of(marker: re.Match[str]) -> list[int]:
    """The numbers of a marker. `1-3` means 1, 2 and 3; at most 21 numbers in a range."""
    numbers: list[int] = []
    for number in re.finditer(r"(?:(\d+)\s*[–-]\s*)?(\d+)", next(filter(None, marker.groups()))):
        first = int(number[1] or number[2])
        numbers += range(first, min(int(number[2]), first + 20) + 1)
    return numbers
