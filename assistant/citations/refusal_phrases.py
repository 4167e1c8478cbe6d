"""Recognises an English sentence that says that the documentation has no answer.

"The documentation does not cover this."   a refusal
"I couldn't find anything about it."       a refusal
"Pages do not include drafts."             a statement about the product

`find_answered_part` finds what a sentence answers all the same:

"The docs name no Redis store, but a custom store can be written."   "a custom store can be written."
"""

import re

_MAX_START = 36  # a refusal says so within the first characters of the sentence

_NOT = r"(?:(?:do|does|did|is|are|was|were|has|have)(?: not|n['’]t)|cannot|can['’]t|never)"
_DOCS = r"(?:documentation|docs|passages?|excerpts?|(?:provided|given|available) (?:context|information|sources?|text))"
_COVER = r"(?:cover|mention|document|describe|specif|address|explain|discuss|includ|contain|provide|found|answer|state)"
_REFUSAL = re.compile(
    rf"\b{_DOCS}\b[^.!?\n]{{0,40}}?\b{_NOT}\b(?: \w+){{0,2}}? (?:{_COVER}|say|tell|list|have|give|go into)"
    r"|\b(?:I|we) (?:do(?: not|n['’]t)|can(?:not| not|['’]t)|could(?: not|n['’]t)|was(?: not|n['’]t) able to|"
    r"am unable to|(?:am|['’]m) not able to) (?:\w+ )?(?:know|find|answer)\b"
    rf"|\bno (?:information|mention|details?|answer|documentation)\b[^.!?\n]{{0,60}}?\b{_DOCS}\b"
    rf"|\b{_DOCS}\b[^.!?\n]{{0,20}}?\b(?:has|have|contains?|gives?|offers?|provides?|makes?)"
    r" no (?:information|mention|details?|answer)\b"
    r"|\A\W*there (?:is|are) no (?:information|mention|details?)\b"
    rf"|\b(?:is|are|was)(?: not|n['’]t) (?:\w+ )?{_COVER}\w*\b[^.!?\n]{{0,20}}?\b{_DOCS}\b",
    re.IGNORECASE,
)
_NAMES_NONE = re.compile(
    rf"\b{_DOCS}\b[^.!?\n]{{0,20}}?\b(?:names?|lists?|shows?|mentions?|describes?) no\b", re.IGNORECASE
)
_CONTRAST = re.compile(r"[,;:–—-]\s*(?:but|yet|however|though|instead)\b,?\s*", re.IGNORECASE)
_CONDITION = re.compile(r"\W*(?:if|when|unless|although)\b", re.IGNORECASE)


def find_answered_part(sentence: str) -> str:
    """The sentence, or if it refuses a part, what follows a word such as “but”. Empty if all of it is a refusal."""
    if not is_refusal(sentence) and not _NAMES_NONE.search(sentence):
        return sentence
    *_, rest = _CONTRAST.split(sentence)
    return "" if is_refusal(rest) else rest


def is_refusal(sentence: str) -> bool:
    """Whether a sentence says that the documentation does not cover something, or that its writer does not know."""
    found = _REFUSAL.search(sentence)
    return bool(found and found.start() <= _MAX_START and not _CONDITION.match(sentence))
