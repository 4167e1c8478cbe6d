"""How much two questions have in common: the share of their words, without those that say nothing. No database."""

import hashlib
from collections.abc import Set

from search.text import analysis
from search.text.language import detect_language

MIN_LIKENESS = 0.7  # of two questions in one group
MAX_CHARACTERS, MAX_TERMS = 2000, 40


def terms_of(text: str) -> frozenset[str]:
    """The index terms of a question: stems without function words, or the text itself where nothing else is left.

    >>> sorted(terms_of("How do I rotate my API keys?"))
    ['api', 'key', 'rotat']
    """
    text = text[:MAX_CHARACTERS]
    language = detect_language(text) or "en"
    text = text.casefold()  # “WordPress” would have the terms of “word press”
    function_words = analysis.FUNCTION_WORDS.get(language, frozenset())
    words = [word for word in analysis.without_stop_words(text) if word not in function_words]
    terms = analysis.terms(" ".join(words), language) or analysis.terms(text, language)
    return frozenset(dict.fromkeys(terms[:MAX_TERMS])) or frozenset(("".join(text.split())[:MAX_TERMS] or "-",))


def likeness(terms: Set[str], others: Set[str]) -> float:
    """The share of terms that two questions have in common, 0 to 1 (Dice)."""
    return 2 * len(terms & others) / (len(terms) + len(others))


def join(terms: Set[str]) -> str:
    """The terms as they are stored, so that ` term ` finds one."""
    return f" {' '.join(sorted(terms))} "


def digest(terms: Set[str]) -> str:
    """The key of a group: 32 hexadecimal digits."""
    return hashlib.blake2b(join(terms).encode(), digest_size=16).hexdigest()
