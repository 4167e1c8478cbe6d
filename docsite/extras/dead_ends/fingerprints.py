"""What a page is like, in numbers that two versions of it share: a sketch of its text, and the terms of its address.

A sketch is a MinHash (Broder 1997) of runs of three words: the share of equal numbers in two sketches estimates the
share of runs that both texts have.
"""

import re
import zlib

import numpy as np
import numpy.typing as npt

SIZE = 64  # numbers in a sketch
_MAX_CHARACTERS = 60_000
_RUN = 3  # words

_WORD = re.compile(r"\w+")
_CHANCE = np.random.Generator(np.random.PCG64(20261129))  # the same numbers in every process
_FACTORS = _CHANCE.integers(1, 2**32, SIZE, dtype=np.uint32) | np.uint32(1)
_OFFSETS = _CHANCE.integers(0, 2**32, SIZE, dtype=np.uint32)

Sketch = npt.NDArray[np.uint32]


def sketch(text: str) -> bytes:
    """The sketch of a text, in little-endian numbers of 32 bits. Empty for a text without words."""
    words = _WORD.findall(text[:_MAX_CHARACTERS].lower())
    if not words:
        return b""
    runs = {" ".join(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1))}
    hashes = np.fromiter((zlib.crc32(run.encode("utf-8", "replace")) for run in runs), np.uint32, len(runs))
    with np.errstate(over="ignore"):
        smallest: Sketch = np.min(_mix(hashes)[:, None] * _FACTORS + _OFFSETS, axis=0)
    return smallest.astype("<u4").tobytes()


def _mix(hashes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Spread the bits, since the numbers of CRC-32 depend on each other (the finalizer of MurmurHash3)."""
    hashes = (hashes ^ (hashes >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    hashes = (hashes ^ (hashes >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return hashes ^ (hashes >> np.uint32(16))


def decode(stored: bytes) -> Sketch:
    """The numbers of a stored sketch; zeros for an empty one, which is like no other."""
    return np.frombuffer(bytes(stored), "<u4") if len(stored) == 4 * SIZE else np.zeros(SIZE, np.uint32)


def split_words(text: str) -> list[str]:
    """The words of a title or a part of an address, in lower case, without the `s` of a plural."""
    return [word.removesuffix("s") if len(word) > 3 else word for word in _split(text)]


def split_trigrams(text: str) -> list[str]:
    """The runs of three characters of a name, with its ends marked, so that a typing mistake changes few."""
    name = f" {' '.join(_split(text))} "
    return [name[at : at + 3] for at in range(len(name) - 2)]


def _split(text: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))]
