"""How common English words are.

`english-words.txt.gz` is the vocabulary of bert-base-uncased, which all-MiniLM-L6-v2 has, too: behind some thousand
signs its words are in the order of how common they are.
"""

import functools
import gzip
import re
from pathlib import Path

from search.text import analysis

_FILE = Path(__file__).with_name("english-words.txt.gz")  # a word or a piece of one on each line
_PREFIX = re.compile(r"^(?:multi|non|pre|re|sub|un)(?=\w{4})")


def read_words() -> list[str]:
    """The words and pieces of words, the commonest first."""
    return gzip.decompress(_FILE.read_bytes()).decode().removesuffix("\n").split("\n")


def measure_rarity(word: str) -> float:
    """How rare a lower-case word is: its place (0..1) in the list, 1 if it is not there.

    Names that are no words are rare, and so are words of computing that the list lacks. A word of everyday language,
    with any ending and a usual prefix, is not.
    """
    places, stem = _load_places(), analysis.stem(word)
    root = _PREFIX.sub("", stem)
    return min(places.get(form, 1.0) for form in (word, stem, f"{stem}e", f"{stem[:-1]}y", root, f"{root}e"))


@functools.cache
def _load_places() -> dict[str, float]:
    words = read_words()
    return {word: place / len(words) for place, word in enumerate(words)}
