"""Which language a text is in."""

import re
from collections import Counter
from functools import lru_cache

from search.text import analysis, glossary

_MAX_GUESSED = 12  # words; a longer text has function words

_SCRIPTS = {
    "ja": re.compile(r"[\u3040-\u30ff]"),
    "ko": re.compile(r"[\uac00-\ud7af]"),
    "zh": re.compile(r"[\u4e00-\u9fff]"),
    "es": re.compile(r"[¿¡]"),
}


@lru_cache(maxsize=16)
def detect_language(text: str) -> str:
    """The language of a text as two letters; empty where its words do not tell it. One request asks several times."""
    for language, script in _SCRIPTS.items():
        if script.search(text):
            return language
    words = Counter(word.lower() for word in analysis.words(text))
    counts = Counter(
        {
            language: sum(words[word] for word in function_words & words.keys())
            for language, function_words in analysis.FUNCTION_WORDS.items()
        }
    )
    (language, first), (_, second) = counts.most_common(2)
    if first >= 2 and first > second:
        return language
    return glossary.guess_language(text) if words.total() <= _MAX_GUESSED else ""
