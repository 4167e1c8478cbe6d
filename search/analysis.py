"""Text to index terms, the same for every engine, so that ranking does not depend on one.

A word becomes its stem. A code name becomes its parts and their joined form, so
that `useChat`, `use chat` and `usechat` meet, and so do `--no-cache`, `no cache`
and `nocache`. Chinese, Japanese and Korean become pairs of characters.
"""

import functools
import re
import unicodedata

import Stemmer

VERSION = 2  # raise it when terms change: every page is then analysed again

_TOKEN = re.compile(r"\w+(?:[.:/'’+-]+\w+)*\+*#?")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+[^\W\d_]*")
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_LONGEST_TERM = 64
_MOST_PARTS = 8

_STOP_WORDS = """
    a about an and are as at be by can could do does for from had has have how i if in into is it its me my no of on
    or our should so than that the their them then there these they this to us was we were what when where which
    who why will with would you your"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


@functools.cache
def _stemmer(language: str) -> "Stemmer.Stemmer | None":
    names = {"en": "english", "es": "spanish", "fr": "french", "de": "german", "pt": "portuguese", "it": "italian",
             "nl": "dutch", "sv": "swedish", "da": "danish", "no": "norwegian", "nb": "norwegian", "fi": "finnish",
             "ru": "russian", "tr": "turkish", "ro": "romanian", "hu": "hungarian"}  # fmt: skip
    name = names.get(language[:2].lower() or "en")
    return Stemmer.Stemmer(name) if name else None


def _stem(word: str, language: str) -> str:
    return _stem_of(word[:_LONGEST_TERM], language)


@functools.lru_cache(maxsize=100_000)
def _stem_of(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    stem = stemmer.stemWord(word) if stemmer and word.isalpha() else word
    if not stem.isascii():
        stem = "".join(c for c in unicodedata.normalize("NFKD", stem) if not unicodedata.combining(c))
    return str(stem)


def words(text: str) -> list[str]:
    """The words and code names of a text, as written."""
    return _TOKEN.findall(unicodedata.normalize("NFKC", text))


def terms_of(word: str, language: str = "en") -> list[str]:
    """Index terms of one word or code name: stems of its parts, then the joined form when there are several."""
    if _EAST_ASIAN.search(word):
        return _east_asian(word, language)
    parts = [part.lower() for part in _PART.findall(word)]
    if len(parts) == 2 and parts[1] in ("s", "t", "re", "ve", "ll", "d", "m") and ("'" in word or "’" in word):
        parts = [parts[0]]  # the reader's, don't
    terms = [_stem(part, language) for part in parts[:_MOST_PARTS]]
    if len(parts) > 1:
        terms.append(_stem("".join(parts), language))
    elif word.endswith(("++", "#")) and parts:
        terms.append(parts[0] + "plusplus" if word.endswith("++") else parts[0] + "sharp")
    return terms


def _east_asian(word: str, language: str) -> list[str]:
    terms: list[str] = []
    position = 0
    for run in _EAST_ASIAN.finditer(word):
        if before := word[position : run.start()]:
            terms += terms_of(before, language)
        text = run.group()
        terms += [text[i : i + 2] for i in range(len(text) - 1)] or [text]
        position = run.end()
    if rest := word[position:]:
        terms += terms_of(rest, language)
    return terms


def terms(text: str, language: str = "en") -> list[str]:
    """All index terms of a text, in order, with repetitions."""
    found: list[str] = []
    for word in words(text):
        found += terms_of(word, language)
    return found


def query_terms(text: str, languages: tuple[str, ...] = ("en",)) -> list[tuple[str, ...]]:
    """The distinct terms of a query; each is a tuple of spellings, one for each language's stemmer.

    Stop words go, unless nothing else is left. At most 32 terms.
    """
    found = words(text[:2000])
    content = [word for word in found if word.lower() not in STOP_WORDS] or found
    terms: dict[tuple[str, ...], None] = {}
    for word in content:
        for spellings in zip(*(terms_of(word, language) for language in languages or ("en",)), strict=True):
            terms[tuple(dict.fromkeys(spellings))] = None
    return list(terms)[:32]
