"""Notices that a model only repeats itself, as small ones do until their limit of tokens.

A loop is a passage of at least four words that follows itself three times, word for word:

    "Restart the server and try again. " * 4   ->   a loop, which ends there

Tables and code rightly repeat, so their words must be equal, too, but make no passage.
"""

import re

REPEATS = 3  # of a passage, behind it
MIN_WORDS = 4  # of a passage; no fewer may begin a repetition
MIN_CHARACTERS = 20  # with the blanks behind the words
STEP = 32  # characters that are looked at together: a look at each token would cost as much as its parser
MAX_WORD = 64  # characters of a word; a longer one is several

_CJK = "\u3040-\u30ff\u3400-\u9fff"  # no blanks: each character is a word, and counts twice
_WORD = re.compile(rf"\n|[{_CJK}]|[^\s{_CJK}]{{1,{MAX_WORD}}}")
_IDEOGRAPH = re.compile(rf"[{_CJK}]")
_FENCES = ("```", "~~~")


class RepetitionGuard:
    """Reads a text in pieces, in linear time, until it is a loop."""

    def __init__(self) -> None:
        self.is_loop = False
        self._waiting = ""
        self._words: list[str] = []
        self._is_prose: list[bool] = []  # of each word: whether it is outside of tables and code
        self._seen: dict[tuple[str, ...], int] = {}  # where the latest words stood before
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
        at = len(self._words)
        self._words.append(word)
        self._is_prose.append(not (self._in_row or self._in_fence))
        if self._period and self._words[at - self._period] == word:
            self._run += 1
        else:
            self._period = self._run = 0
        start = tuple(self._words[-MIN_WORDS:])
        if not self._period and start in self._seen:
            self._period, self._run = at - self._seen[start], MIN_WORDS
        self._seen[start] = at
        if self._period and self._run % self._period == 0 and self._run >= REPEATS * self._period:
            self.is_loop = self._is_passage(self._period)

    def _is_passage(self, count: int) -> bool:
        """Whether the latest words are enough to be a passage."""
        latest = zip(self._words[-count:], self._is_prose[-count:], strict=True)
        words = [word for word, is_prose in latest if is_prose and any(map(str.isalpha, word))]
        size = sum(2 if _IDEOGRAPH.match(word) else len(word) + 1 for word in words)
        return len(words) >= MIN_WORDS and size >= MIN_CHARACTERS
