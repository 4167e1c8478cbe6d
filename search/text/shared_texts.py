"""One copy of each text of a section for all answers. Texts are most of the memory of an answer that runs."""

import sys

from docsite.core.sized_cache import SizedCache

MAX_BYTES = 16 * 1024 * 1024  # of all projects: about 8,000 sections, kept for the next answers

_texts: SizedCache[str, str] = SizedCache()


def intern(text: str) -> str:
    """The object that others already use for an equal text, so that it takes memory once; this one if nobody does."""
    known = _texts.get(text)
    if known is None:
        known = text
        _texts.put(text, text, sys.getsizeof(text), MAX_BYTES)
    return known
