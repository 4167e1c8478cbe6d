"""Suggests pages for an unknown address. It does not search the index, because scanners request many addresses."""

import difflib
import functools
import re

from docsite.site.navigation import Page, groups

MAX_PAGES = 5
_MAX_LENGTH = 100  # characters of an address that are compared
_MIN_SIMILARITY = 0.7
_MIN_SHARE = 0.5


def find_nearest(path: str, language: str) -> list[Page]:
    """Up to five pages, often none: pages with a similar address, then pages with the words of the address.

    Pages in the language come first, then those without a translation.
    """
    by_slug = {each.slug: each for _, members in groups(language) for each in members}
    address = path[:_MAX_LENGTH].lower().removesuffix(".md").removesuffix(".html")
    alike = difflib.get_close_matches(address.rsplit("/", 1)[-1], by_slug, n=3, cutoff=_MIN_SIMILARITY)
    words = _split_words(address)
    shares = {slug: _matching_share(words, page) for slug, page in by_slug.items()}
    about = sorted((slug for slug in by_slug if shares[slug] >= _MIN_SHARE), key=lambda slug: -shares[slug])
    near = [by_slug[slug] for slug in dict.fromkeys([*alike, *about])]
    return sorted(near, key=lambda page: page.language != language)[:MAX_PAGES]


def _matching_share(words: frozenset[str], page: Page) -> float:
    """The share of the words that the page has: 0 to 1; words of its title count twice, so up to 2."""
    title, rest = _words_of(page)
    found = sum(2 * _starts_a_word(word, title) or _starts_a_word(word, rest) for word in words)
    return found / len(words) if words else 0


def _starts_a_word(word: str, words: frozenset[str]) -> bool:
    stem = word.removesuffix("s")
    return any(each.startswith(stem) for each in words)


@functools.lru_cache(maxsize=256)
def _words_of(page: Page) -> tuple[frozenset[str], frozenset[str]]:
    """The words of title and address, and the words of headings and description."""
    headings = re.findall(r"^##+ (.+)", page.body, re.MULTILINE)
    title = _split_words(f"{page.slug} {page.title} {page.headline}")
    return title, _split_words(" ".join([page.description, *headings]))


def _split_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]{3,}", text.lower()))
