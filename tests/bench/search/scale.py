"""A large documentation site out of small ones: copies of their pages, each with a fifth of its words made new.

That keeps the lengths and the frequencies of real pages while the vocabulary grows with the site.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from string import ascii_lowercase
from zlib import crc32

from search.sources import Page

_WORD = re.compile(r"[^\W\d_]{5,}")


def varied(pages: Iterable[Page], count: int) -> Iterator[Page]:
    """Each page as often, below a folder of its set and copy; the copy is its version."""
    pages = list(pages)
    for number in range(count):
        made: dict[str, str] = {}

        def vary(found: re.Match[str], number: int = number, made: dict[str, str] = made) -> str:
            word = found[0]
            if word not in made:
                changed = crc32(f"{number} {word.lower()}".encode()) % 5 == 0
                made[word] = word + "x" + ascii_lowercase[number % 26] if changed else word
            return made[word]

        for place, page in enumerate(pages):
            yield replace(
                page,
                path=f"/v{number}/{place}{page.path}",
                markdown=_WORD.sub(vary, page.markdown),
                title=_WORD.sub(vary, page.title),
                description=_WORD.sub(vary, page.description),
                version=f"{number}.0",
            )
