"""Find where a text may hold an index term, without analysing the whole text.

An English stem has the letters of its words but for the last one: `configur` is in `configuration`, and `happy` begins
with `happi` but for its `i`. So most of a text is passed over by looking for the beginnings of the terms. Signs between
letters do not count, since `e-mail` has the term `email`, too. A letter that is not ASCII may be normalized to another
one, so a piece with such a letter is never passed over.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from string import ascii_lowercase, ascii_uppercase, digits

_SIGNS = bytes(set(range(128)).difference(f"{ascii_uppercase}{ascii_lowercase}{digits} ".encode()))
_LOWER = bytes.maketrans(ascii_uppercase.encode(), ascii_lowercase.encode())
_WRITTEN_BY_SIGNS = ("plusplus", "sharp")  # C++ and C#
_OTHER_LETTER = re.compile(r"[^\W\0-\x7f]")


class Scanner:
    """Finds the places of lines in one language that may hold one of some index terms.

    It misses none that is written with letters and digits. A sign such as `㎏` is not taken apart.
    """

    def __init__(self, terms: Iterable[str], language: str) -> None:
        needles = {needle for term in terms for needle in _write_needles(term)}
        is_english = language[:2].lower() in ("", "en")  # other stemmers change more than the end of a word
        self._needles = sorted(needles) if is_english and b"" not in needles else None

    def find_pieces(self, line: str) -> Iterator[tuple[int, str]]:
        """The pieces between blanks that may hold one of the terms, in their order, each with its offset.

        The line has no other white space than single blanks.
        """
        pieces = line.split(" ")
        start, before = 0, 0
        for number in range(len(pieces)) if self._needles is None else self._find_numbers(line, pieces):
            start += sum(map(len, pieces[before:number])) + number - before
            before = number
            yield start, pieces[number]

    def _find_numbers(self, line: str, pieces: Sequence[str]) -> list[int]:
        has_others = _OTHER_LETTER.search(line)
        places = {number for number, piece in enumerate(pieces) if not piece.isascii()} if has_others else set()
        letters = _squash(line)
        for needle in self._needles or ():
            number, counted, at = 0, 0, letters.find(needle)
            while at >= 0:
                number += letters.count(b" ", counted, at)
                places.add(number)
                counted, at = at, letters.find(needle, at + 1)
        return sorted(places)


def _squash(text: str) -> bytes:
    """A text in lower case without signs. Letters that are not ASCII are left out, too."""
    return text.encode("ascii", "replace").translate(_LOWER, _SIGNS)


def _write_needles(term: str) -> Iterator[bytes]:
    """Letters one of which are in every text with the term; empty if any text may have it."""
    letters = _squash(term)
    if term.endswith(_WRITTEN_BY_SIGNS) or not term.isascii():
        yield b""
    elif len(letters) == 3 and letters.endswith(b"ie"):  # `dying` and the like
        yield from (letters, letters[:1] + b"y")
    else:
        yield letters[:-1] if len(letters) > 2 else letters
