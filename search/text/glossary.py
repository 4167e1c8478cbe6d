"""Translates the words of documentation into English, so that a question in another language finds English pages.

`glossary.tsv` has words and phrases in seven languages, enough to find a page. Names, code and other words stay as they
are. Its last row, without English, has words that say nothing, such as pronouns.
"""

import csv
import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from docsite.core.unicode.normalization import normalize
from search.text import analysis

_FILE = Path(__file__).with_name("glossary.tsv")
_MAX_PHRASE = 4  # words
_MIN_GUESSED = 2  # words of a language, and at least half of the words
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_ELISION = re.compile(r"\A\w{1,6}['’](?=\w{3})")
_HIRAGANA = re.compile(r"[\u3041-\u309f]+")  # the grammar of Japanese, between its words


def translate(text: str, language: str) -> str:
    """The text with its words in English; as it is if its language (two letters) is not in the glossary."""
    if language == "ja":
        known = _read_glossary()["ja"]
        text = _japanese_words().sub(lambda found: f" {known[(found[0],)]} ", text)
        return " ".join(_HIRAGANA.sub(" ", text).split())
    glossary = _read_glossary().get(language)
    if glossary is None:
        return text
    function_words = analysis.FUNCTION_WORDS[language]
    words = [word for word in _split_words(text) if word.lower() not in function_words or word.isupper()]
    english: list[str] = []
    position = 0
    while position < len(words):
        for length in range(min(_MAX_PHRASE, len(words) - position), 0, -1):
            phrase = words[position : position + length]
            translation = glossary.get(_exact(phrase), glossary.get(analysis.stems(phrase, language)))
            if translation is not None:
                english.append(translation)
                position += length
                break
        else:
            english.append(words[position])
            position += 1
    return " ".join(filter(None, english))


def guess_language(text: str) -> str:
    """The language of a short text by its words in the glossary; empty if they do not tell it.

    Words that are also English, such as `test` and `option`, do not count.
    """
    words = [word.lower() for word in _split_words(text)]
    words = [word for word in words if word not in analysis.STOP_WORDS and word not in _english_words()]
    counts = Counter(
        {
            language: sum(word in analysis.FUNCTION_WORDS[language] or (word,) in phrases for word in words)
            for language, phrases in _read_glossary().items()
            if language != "ja"
        }
    )
    (language, first), (_, second) = counts.most_common(2)
    return language if first >= max(_MIN_GUESSED, len(words) / 2) and first > second else ""


def _split_words(text: str) -> list[str]:
    """The words of a text. Those of a compound like `SSH-Schlüssel` are apart; of `l'erreur` there is only the noun."""
    words: list[str] = []
    for found in analysis.TOKEN.finditer(normalize("NFKC", text)):
        word, is_flag = found[0], found.string[found.start() - 1 : found.start()] == "-"
        words += word.split("-") if _COMPOUND.fullmatch(word) and not is_flag else [word]
    return [_ELISION.sub("", word) for word in words]


@functools.cache
def _read_glossary() -> Mapping[str, Mapping[tuple[str, ...], str]]:
    """For each language the English of each phrase, by its words and by their stems, without function words."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    glossary: dict[str, dict[tuple[str, ...], str]] = {}
    for make_key in (_exact, analysis.stems):  # whole words first: a shared stem must not hide them
        for row in rows:
            for language, phrases in row.items():
                if language != "en":
                    translations = glossary.setdefault(language, {})
                    for phrase in phrases.split():
                        translations.setdefault(make_key(_read_phrase(phrase, language), language), row["en"])
    return glossary


def _read_phrase(phrase: str, language: str) -> list[str]:
    """The words of a phrase of the table, where hyphens stand for blanks."""
    if language == "ja":
        return [phrase]
    words = [word for part in phrase.split("-") for word in _split_words(part)]
    return [word for word in words if word.lower() not in analysis.FUNCTION_WORDS[language]] or words


def _exact(words: Sequence[str], _: str = "") -> tuple[str, ...]:
    return tuple(word.lower() for word in words)


@functools.cache
def _english_words() -> frozenset[str]:
    translations = (english for phrases in _read_glossary().values() for english in phrases.values())
    return frozenset(word for english in translations for word in english.split())


@functools.cache
def _japanese_words() -> re.Pattern[str]:
    words = sorted((phrase for (phrase,) in _read_glossary()["ja"]), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, words)))
