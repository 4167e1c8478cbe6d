"""Recognises a question that refers to something before it: an earlier question, or the reader's page.

"could you write that out in code?"   an earlier answer
"How do I install it?"                the page's subject, where there is no earlier question
"""

import re

from search.text import analysis
from search.text.language import detect_language

_PRONOUN = re.compile(
    r"\b(?:it|its|that|they|them|their|those|these|ones?|same)\b"
    r"|\b(?:es|dasselbe|dabei|damit|dafür|davon|das(?!\s+(?-i:[A-ZÄÖÜ])))\b"
    r"|\b(?:ça|cela|celui|celle|lo mismo|eso|esto|isso|isto|questo|quello)\b",
    re.IGNORECASE,
)
_BEGINNING = re.compile(  # "and for a subfolder?", but not "and pizza?"
    r"\W*(?:and|but|or|und|aber|oder|et|mais|y|pero|e|ma|mas)\s+(?:for|from|if|in|into|on|to|under|when|with|without|"
    r"auf|bei|für|in|mit|ohne|unter|wenn|avec|dans|pour|sans|si|sous|con|en|para|sin|com|em|sem|per|senza|se)\b",
    re.IGNORECASE,
)
_TO_PAGE = re.compile(r"\b(?:it|its|they|them|these|those|this|here)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=[\w,]\s)(?!I\b)[A-Z]\w")


def has_pronoun(text: str) -> bool:
    """Whether a text has a word for something that was named before."""
    return bool(_PRONOUN.search(text))


def continues(text: str) -> bool:
    """Whether a text only makes sense after another one, and names nothing of its own."""
    return bool(_PRONOUN.search(text) or _BEGINNING.match(text)) and not _NAME.search(text)


def may_mean_page(text: str) -> bool:
    """Whether a text without others before it may mean the page that the reader is on."""
    return bool(_TO_PAGE.search(text))


def significant_words(text: str) -> list[str]:
    """The words of a text without stop words, and without function words of its language. May be empty."""
    function_words = analysis.FUNCTION_WORDS.get(detect_language(text), frozenset())
    return [word for word in analysis.without_stop_words(text) if word.lower() not in function_words]
