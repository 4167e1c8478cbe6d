"""Finds the list of sources that some models write below their answer, though its markers are links already.

**Sources**

1. [2] Serve
- [doc 1] Install
"""

import re

from assistant.citations.brackets import LABELS

_MAX_START = 150  # characters that may wait
_WORDS = ("sources", "references", "citations", "footnotes", "quellen", "références", "fuentes", "fontes", "出典",
          "参考文献")  # fmt: skip
_INITIALS = frozenset(word[0] for word in _WORDS)
_HEADING_START = r"[ \t]*(?:#{1,6}[ \t]*|\*\*|__)?"
_HEADING_END = r"[:：]?(?:\*\*|__)?[:：]?[ \t]*"
_ITEM_START = r"\s*(?:(?:[-*+]|\d{1,2}[.)])[ \t]+)?"
_ITEM_MARKER = rf"(?:\[(?:\^|{LABELS})?\d{{1,3}}\]|[【［]\d)"
_SOURCE_LIST = re.compile(
    rf"{_HEADING_START}(?:{'|'.join(_WORDS)}){_HEADING_END}\n(?={_ITEM_START}{_ITEM_MARKER})",
    re.IGNORECASE,
)
_PERHAPS_SOURCE_LIST = re.compile(
    rf"{_HEADING_START}([^\W\d_]{{0,12}})(?:{_HEADING_END}"
    r"(?:\n\s*(?:(?:[-*+]|\d{0,2}[.)]?)[ \t]*)?(?:[【［]|\[[\w ^]{0,16})?)?)?(?:\*|_)?"
)
_SOURCE_ITEM = re.compile(rf"{_ITEM_START}{_ITEM_MARKER}|\s*$", re.IGNORECASE)


def find_heading(text: str, is_final: bool) -> int | None:
    """The size of the heading that a text begins with, if a list of the answer's sources follows: `Sources:`, `[1] …`.

    0 if there is none, None until enough of the text is there.
    """
    start = text[:_MAX_START]
    first = start.lstrip(" \t#*_")[:1].lower()
    if first and first not in _INITIALS:
        return 0
    if heading := _SOURCE_LIST.match(start):
        return heading.end()
    perhaps = None if is_final or len(text) > len(start) else _PERHAPS_SOURCE_LIST.fullmatch(start)
    return None if perhaps and any(word.startswith(perhaps[1].lower()) for word in _WORDS) else 0


def is_item(line: str) -> bool:
    """Whether a line belongs to such a list."""
    return bool(_SOURCE_ITEM.match(line))
