"""Notices that a model only repeats itself, as small ones do until their limit of tokens.

A loop is a passage of at least four words that follows itself three times, word for word:

    "Restart the server and try again. " * 4   ->   a loop, which ends there

Tables and code rightly repeat, so their words must be equal, too, but make no passage.
"""

import re
from array import array

REPEATS = 3  # of a passage, behind it
MIN_WORDS = 4  # of a passage; no fewer may begin a repetition
MIN_CHARACTERS = 20  # with the blanks behind the words
STEP = 32  # characters that are looked at together: a look at each token would cost as much as its parser
WINDOW = 512  # words that are kept, so the longest passage of a loop
MAX_WORD = 64  # characters of a word; a longer one is several

_CJK = "\u3040-\u30ff\u3400-\u9fff"  # no blanks: each character is a word, and counts twice
_WORD = re.compile(rf"\n|[{_CJK}]|[^\s{_CJK}]{{1,{MAX_WORD}}}")
_IDEOGRAPH = re.compile(rf"[{_CJK}]")
_FENCES = ("```", "~~~")
_BYTES = 8  # of a hash


class LoopDetector:
    """Reads a text in pieces, in linear time, until it is a loop."""

    def __init__(self) -> None:
        self.is_loop = False
        self._waiting = ""
        # The latest words. Many answers are open at once, so no text is kept: a hash and a size are enough.
        self._hashes = bytearray()  # 8 bytes of each
        self._sizes = array("H")  # with the blank behind it; 0 for a word that makes no passage
        self._period = 0  # words between the latest ones and their like before; 0 if there is none
        self._run = 0  # how many of the latest words are their like
        self._is_line_start, self._in_row, self._in_fence = True, False, False

    def feed(self, text: str) -> str:
        """The next piece, up to where the loop is found."""
        self._waiting += text
        if len(self._waiting) < STEP:
            return text
        end = len(self._waiting)
        for found in _WORD.finditer(self._waiting):
            if found.end() == len(self._waiting) and len(found[0]) < MAX_WORD:
                end = found.start()  # the word may go on
                break
            self._add(found[0])
            if self.is_loop:
                return text[: max(0, len(text) - len(self._waiting) + found.end())]
        self._waiting = self._waiting[end:]
        return text

    def _add(self, word: str) -> None:
        if word == "\n":
            self._is_line_start, self._in_row = True, False
            return
        if self._is_line_start and word.startswith(_FENCES):
            self._in_fence = not self._in_fence
        self._is_line_start = False
        self._in_row = self._in_row or "|" in word
        is_prose = not (self._in_row or self._in_fence) and any(map(str.isalpha, word))
        size = 2 if _IDEOGRAPH.match(word) else len(word) + 1
        self._sizes.append(size if is_prose else 0)
        self._hashes += hash(word).to_bytes(_BYTES, "little", signed=True)
        if self._period and self._word(-1) == self._word(-1 - self._period):
            self._run += 1
        else:
            self._period = self._find_period()
            self._run = MIN_WORDS if self._period else 0
        if self._period and self._run % self._period == 0 and self._run >= REPEATS * self._period:
            self.is_loop = self._is_passage(self._period)
        if len(self._sizes) >= 2 * WINDOW:
            del self._sizes[:WINDOW], self._hashes[: WINDOW * _BYTES]

    def _word(self, place: int) -> bytearray:
        """The hash of a word, counted from the end."""
        start = (len(self._sizes) + place) * _BYTES
        return self._hashes[start : start + _BYTES]

    def _find_period(self) -> int:
        """How many words ago the latest four stood before; 0 if they did not."""
        end = len(self._hashes) - MIN_WORDS * _BYTES
        found = self._hashes.rfind(self._hashes[end:], 0, end + (MIN_WORDS - 1) * _BYTES) if end > 0 else -1
        return (end - found) // _BYTES if found >= 0 and found % _BYTES == 0 else 0

    def _is_passage(self, count: int) -> bool:
        """Whether the latest words are enough to be a passage."""
        sizes = [size for size in self._sizes[-count:] if size]
        return len(sizes) >= MIN_WORDS and sum(sizes) >= MIN_CHARACTERS
