"""Which language a text is in."""

import re
from collections import Counter
from functools import lru_cache

from search.text import analysis, glossary

_MAX_GUESSED = 12  # words; a longer text has function words
_MAX_PAGE = 6_000  # characters of a page that are looked at
_MIN_LETTERS = 0.2  # share of a page's letters that are of a script: pages have English names and code, too
_MIN_WORDS, _MIN_SHARE = 5, 0.05  # function words of a page: how many, and their share of all words
_MAX_OTHERS = 0.35  # of their number, that function words of another language alone may have

_SCRIPTS = {
    language: re.compile(f"[{words['script']}]") for language, words in analysis.LANGUAGES.items() if "script" in words
}
_UNSPACED = ("ja", "ko", "zh", "th")  # one letter of these tells the language; `λ` and `μs` are no Greek question
_SCRIPTS_OF_QUESTIONS = {
    language: script if language in _UNSPACED else re.compile(script.pattern + "{3}")
    for language, script in _SCRIPTS.items()
}
_SPANISH = re.compile("[¿¡]")
_NO_PROSE = re.compile(
    r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)|`[^`\n]*`|\]\([^()\n]*\)|<[^<>\n]*>|https?://\S+|^(?:import|export)\b.*?$"
)


@lru_cache(maxsize=16)
def detect_language(text: str) -> str:
    """The language of a text as two letters; empty where its words do not tell it. One request asks several times."""
    for language, script in _SCRIPTS_OF_QUESTIONS.items():
        if script.search(text):
            return language
    if _SPANISH.search(text):
        return "es"
    words = Counter(word.lower() for word in analysis.words(text))
    (language, first), (_, second) = _count_function_words(words)
    if first >= 2 and first > second:
        return language
    return glossary.guess_language(text) if words.total() <= _MAX_GUESSED else ""


def detect_page_language(markdown: str) -> str:
    """The language of a page's prose as two letters; empty unless its script or many of its words tell it.

    Code and addresses do not count. The limits come from 321 pages in 17 languages: 320 of them right, one unknown.
    """
    prose = _NO_PROSE.sub(" ", markdown[:_MAX_PAGE])
    letters = sum(map(str.isalpha, prose))
    for language, script in _SCRIPTS.items():
        if letters and len(script.findall(prose)) >= _MIN_LETTERS * letters:
            return language
    words = Counter(word.lower() for word in analysis.words(prose))
    (language, first), (_, second) = _count_function_words(words)
    if first < max(_MIN_WORDS, _MIN_SHARE * words.total()) or first == second:
        return ""
    others = words - Counter(dict.fromkeys(analysis.FUNCTION_WORDS[language], words.total()))
    return language if _count_function_words(others)[0][1] <= _MAX_OTHERS * first else ""


def is_language(code: str) -> bool:
    """Whether a text is the code of a language that can be detected, such as `de` or `pt-BR`."""
    return bool(re.fullmatch("[A-Za-z]{2}(?:[-_][A-Za-z0-9]{2,8}){0,2}", code)) and code[:2].lower() in _CODES


_CODES = analysis.LANGUAGES.keys() | {"nb", "nn"}


def _count_function_words(words: Counter[str]) -> list[tuple[str, int]]:
    """The two languages with the most function words among some words, and how many those are."""
    counts = Counter(
        {
            language: sum(words[word] for word in function_words & words.keys())
            for language, function_words in analysis.FUNCTION_WORDS.items()
        }
    )
    return counts.most_common(2)
