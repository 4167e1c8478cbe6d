"""Unicode normalization of foreign text in linear time.

`unicodedata.normalize` sorts the combining marks of a letter by insertion, and holds the interpreter meanwhile: 32,000
of them stop everybody for 0.7 s. And one character can become eighteen. Both are bounded before anything is
normalized. Ordinary text stays as it is, in every script.
"""

import re
import unicodedata
from typing import Literal

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

MAX_MARKS = 30  # in a row, as in the Stream-Safe Text Format (UAX #15, section 13)
MAX_LONG = 500  # characters with a long compatibility form; more only where they are less than one in twenty
_LONG_SHARE = 20
# Words in one square and two phrases in Arabic. The compatibility form of any other character has at most four.
_LONG = re.compile("[\u321d\u321e\u327c\u3300-\u3357\u33ad-\u33af\ufdfa\ufdfb]")
_MARKS_OF_CLASS_ZERO = frozenset("\u0f73\u0f75\u0f81\uff9e\uff9f")  # they decompose to combining marks


def normalize(form: Form, text: str) -> str:
    """The text in a normalization form, with at most 30 combining marks in a row.

    In NFKC and NFKD, a text that is full of characters with long compatibility forms loses these.
    """
    if text.isascii():
        return text
    text = cap_marks(text)
    if "K" in form and len(text) > MAX_LONG:
        if unicodedata.is_normalized(form, text):  # noqa: TID251  # it gives up at marks that need sorting
            return text
        if len(_LONG.findall(text)) > max(MAX_LONG, len(text) // _LONG_SHARE):
            text = _LONG.sub("", text)
    return unicodedata.normalize(form, text)  # noqa: TID251  # here alone


def remove_accents(text: str) -> str:
    """The text in NFKD without its combining marks."""
    if text.isascii():
        return text
    return "".join(character for character in normalize("NFKD", text) if not unicodedata.combining(character))


def to_ascii(text: str) -> str:
    """The ASCII characters of the text in NFKD, as generators make slugs of headings."""
    return normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def cap_marks(text: str) -> str:
    """The text without the combining marks that follow 30 others: for a library that normalizes it by itself."""
    if not _has_long_run(text):
        return text
    kept = []
    run = 0
    for character in text:
        run = run + 1 if _is_mark(character) else 0
        if run <= MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def _has_long_run(text: str) -> bool:
    """Whether more than 30 marks stand in a row. Such a run has one at a multiple of 31, so few are looked at."""
    sample = text[:: MAX_MARKS + 1]
    if sample.isascii() or len(text) <= MAX_MARKS:
        return False
    if not any(map(unicodedata.combining, sample)) and _MARKS_OF_CLASS_ZERO.isdisjoint(sample):
        return False
    return any(_is_in_long_run(text, at) for at in range(0, len(text), MAX_MARKS + 1) if _is_mark(text[at]))


def _is_in_long_run(text: str, at: int) -> bool:
    start = end = at
    while start and _is_mark(text[start - 1]):
        start -= 1
    while end < len(text) and end - start <= MAX_MARKS and _is_mark(text[end]):
        end += 1
    return end - start > MAX_MARKS


def _is_mark(character: str) -> bool:
    return bool(unicodedata.combining(character)) or character in _MARKS_OF_CLASS_ZERO
