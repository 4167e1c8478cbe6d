"""Text to index terms, the same for every engine, so that ranking does not depend on one.

A word becomes its stem. A code name becomes its parts and their joined form, so
that `useChat`, `use chat` and `usechat` meet, and so do `--no-cache`, `no cache`
and `nocache`. Chinese, Japanese and Korean become pairs of characters.
"""

import functools
import re
import unicodedata

import Stemmer

VERSION = 4  # raise it when terms change: every page is then analysed again

TOKEN = re.compile(r"\w+(?:[.:/'’+-]+\w+)*\+*#?")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+[^\W\d_]*")
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_LONGEST_WORD = 256
_LONGEST_TERM = 64
_MOST_PARTS = 8
_CLITICS = ("s", "t", "re", "ve", "ll", "d", "m")

_STOP_WORDS = """
    a about according an and are as at be by can could do does for from had has have how i if in into is it its me my
    need no of on one or our should so some than that the their them then there these they this three to two us use
    used using versus vs want was way ways we were what when where which who why will with would you your"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


@functools.cache
def _stemmer(language: str) -> "Stemmer.Stemmer | None":
    names = {"en": "english", "es": "spanish", "fr": "french", "de": "german", "pt": "portuguese", "it": "italian",
             "nl": "dutch", "sv": "swedish", "da": "danish", "no": "norwegian", "nb": "norwegian", "fi": "finnish",
             "ru": "russian", "tr": "turkish", "ro": "romanian", "hu": "hungarian"}  # fmt: skip
    name = names.get(language[:2].lower() or "en")
    return Stemmer.Stemmer(name) if name else None


@functools.lru_cache(maxsize=100_000)
def _stem_of(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    if language[:2].lower() in ("", "en"):  # other stemmers tell endings by their accents
        word = _plain(word)
    return _plain(stemmer.stemWord(word) if stemmer and word.isalpha() else word)


def _plain(word: str) -> str:
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def words(text: str) -> list[str]:
    """The words and code names of a text, as written."""
    return TOKEN.findall(unicodedata.normalize("NFKC", text))


def forms_of(word: str) -> list[str]:
    """A word or code name in lower case: its parts, then the joined form when there are several. Not yet stemmed.

    >>> forms_of("useChat")
    ['use', 'chat', 'usechat']
    """
    if _EAST_ASIAN.search(word):
        return _east_asian(word)
    parts = [part.lower() for part in _parts(word)]
    if len(parts) == 2 and parts[1] in _CLITICS and ("'" in word or "’" in word):
        parts = [parts[0]]  # the reader's, don't
    if len(parts) > 1:
        return [*parts[:_MOST_PARTS], "".join(parts)]
    if parts and word.endswith("++"):
        return [*parts, parts[0] + "plusplus"]
    if parts and word.endswith("#"):
        return [*parts, parts[0] + "sharp"]
    return parts


def _parts(word: str) -> list[str]:
    """The letters and the numbers of a word, cut where the case or the kind changes."""
    if word.isascii():
        return _PART.findall(word)
    plain = "".join(unicodedata.normalize("NFKD", letter)[0] for letter in word)  # é is no other kind than e
    return [word[part.start() : part.end()] for part in _PART.finditer(plain)]


def _east_asian(word: str) -> list[str]:
    forms: list[str] = []
    position = 0
    for run in _EAST_ASIAN.finditer(word):
        if before := word[position : run.start()]:
            forms += forms_of(before)
        text = run.group()
        forms += [text[i : i + 2] for i in range(len(text) - 1)] or [text]
        position = run.end()
    if rest := word[position:]:
        forms += forms_of(rest)
    return forms


_forms_of = functools.lru_cache(maxsize=100_000)(forms_of)


def stem(form: str, language: str = "en") -> str:
    """The index term of a form: its stem in that language, without accents."""
    return _stem_of(form[:_LONGEST_TERM], language)


def terms_of(word: str, language: str = "en") -> list[str]:
    """Index terms of one word or code name."""
    return [stem(form, language) for form in forms_of(word)]


def forms(text: str) -> list[str]:
    """All forms of a text, in order, with repetitions."""
    return [form for word in words(text) for form in _forms_of(word[:_LONGEST_WORD])]


def terms(text: str, language: str = "en") -> list[str]:
    """All index terms of a text, in order, with repetitions."""
    return [_stem_of(form[:_LONGEST_TERM], language) for form in forms(text)]


def name_of(text: str) -> str:
    """A text as one word, to compare names with: `uv.lock` and `UV lock` are the same."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).lower() if c.isalnum())


def content_words(text: str) -> list[str]:
    """The words of a query, without stop words, unless nothing else is left."""
    found = words(text)
    return [word for word in found if word.lower() not in STOP_WORDS] or found
