"""The pages that are near an address at which there is none. It asks no index: any scanner may ask for anything."""

import difflib
import functools
import re

from docsite.site.navigation import Page, groups

MOST = 5
_LONGEST = 100  # characters of an address that are looked at
_SPELLED_ALIKE = 0.7
_ABOUT_IT = 0.5


def nearest(path: str, language: str) -> list[Page]:
    """Up to five pages: those whose address is spelled like this one, then those with its words; often none.

    Pages of the language come first, then those that are in no other than the first.
    """
    known = {each.slug: each for _, members in groups(language) for each in members}
    asked = path[:_LONGEST].lower().removesuffix(".md").removesuffix(".html")
    alike = difflib.get_close_matches(asked.rsplit("/", 1)[-1], known, n=3, cutoff=_SPELLED_ALIKE)
    words = _letters(asked)
    shares = {slug: _share(words, page) for slug, page in known.items()}
    about = sorted((slug for slug in known if shares[slug] >= _ABOUT_IT), key=lambda slug: -shares[slug])
    near = [known[slug] for slug in dict.fromkeys([*alike, *about])]
    return sorted(near, key=lambda page: page.language != language)[:MOST]


def _share(words: frozenset[str], page: Page) -> float:
    """How many of the words are in what the page says of itself, 0 to 1; in its title they count twice, up to 2."""
    title, rest = _words_of(page)
    found = sum(2 * _begins(word, title) or _begins(word, rest) for word in words)
    return found / len(words) if words else 0


def _begins(word: str, known: frozenset[str]) -> bool:
    stem = word.removesuffix("s")
    return any(each.startswith(stem) for each in known)


@functools.lru_cache(maxsize=256)
def _words_of(page: Page) -> tuple[frozenset[str], frozenset[str]]:
    """The words of title and address, and those of headings and description."""
    headings = re.findall(r"^##+ (.+)", page.body, re.MULTILINE)
    return _letters(f"{page.slug} {page.title} {page.headline}"), _letters(" ".join([page.description, *headings]))


def _letters(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]{3,}", text.lower()))
