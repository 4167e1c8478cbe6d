"""Which sentence of a passage supports a claim, and whether any can."""

import math
import re
from collections import Counter
from collections.abc import Collection
from functools import cached_property

from assistant.citations.text_fragments import Page, lines
from search.hits import Hit
from search.text import analysis

LONGEST = 20_000  # characters of a passage that are looked at
JUDGED = 2  # content terms that a claim must have: "Yes" may be said of anything
SHARED = 2  # of them that the passage must have
SHARE = 0.2  # and so many of a long claim's, whose words are partly the model's own

_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*\d(?![\w])")  # of two digits or more: a model may count to nine by itself
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]{0,3}\s+(?=[^\sa-z])|(?<=[。！？])")
_CLAIM_END = re.compile(r"(?<=[.!?…])[*_\"'”’)\]]{0,8}\s+|(?<=[。！？])")

_NOT = r"(?:(?:do|does|did|is|are|was|were|has|have)(?: not|n['’]t)|cannot|can['’]t|never)"
_DOCS = r"(?:documentation|docs|passages?|excerpts?|(?:provided|given|available) (?:context|information|sources?|text))"
_COVERED = (
    r"(?:cover|mention|document|describe|specif|address|explain|discuss|includ|contain|provide|found|answer|state)"
)
_UNKNOWN = re.compile(
    rf"\b{_DOCS}\b[^.!?\n]{{0,40}}?\b{_NOT}\b(?: \w+){{0,2}}? (?:{_COVERED}|say|tell|list|have|give|go into)"
    r"|\b(?:I|we) (?:do(?: not|n['’]t)|can(?:not| not|['’]t)|could(?: not|n['’]t)|was(?: not|n['’]t) able to|"
    r"am unable to|(?:am|['’]m) not able to) (?:\w+ )?(?:know|find|answer)\b"
    rf"|\bno (?:information|mention|details?|answer|documentation)\b[^.!?\n]{{0,60}}?\b{_DOCS}\b"
    rf"|\b{_DOCS}\b[^.!?\n]{{0,20}}?\b(?:has|have|contains?|gives?|offers?|provides?|makes?)"
    r" no (?:information|mention|details?|answer)\b"
    r"|\A\W*there (?:is|are) no (?:information|mention|details?)\b"
    rf"|\b(?:is|are|was)(?: not|n['’]t) (?:\w+ )?{_COVERED}\w*\b[^.!?\n]{{0,20}}?\b{_DOCS}\b",
    re.IGNORECASE,
)
EARLY = 36  # characters of a sentence within which it says so, if that is what it says

_SCRIPTS = {
    "ja": re.compile(r"[\u3040-\u30ff]"),
    "ko": re.compile(r"[\uac00-\ud7af]"),
    "zh": re.compile(r"[\u4e00-\u9fff]"),
}
_KANA = re.compile(r"[\u3041-\u309f]+")


def says_unknown(text: str) -> bool:
    """Whether a text says that the documentation does not cover something, or that its writer does not know.

    English only. Of the product it may say anything: "pages do not include drafts" is a claim like others.
    """
    found = _UNKNOWN.search(text)
    return bool(
        found and found.start() <= EARLY and not re.match(r"\W*(?:if|when|unless|although)\b", text, re.IGNORECASE)
    )


def sentences(text: str) -> list[str]:
    """The sentences of a visible text, each as it stands in its block, blanks made single; lines of code as well."""
    found = (piece.strip() for line in lines(text[:LONGEST]) for piece in _SENTENCE_END.split(line))
    return [piece for piece in found if piece]


def _numbers(text: str) -> set[str]:
    """The numbers of a text, without what sets their thousands apart."""
    return {re.sub(r"[,.](?=\d{3}\b)", "", number) for number in _NUMBER.findall(text)}


def last_sentence(text: str) -> str:
    """What a marker behind the text is about: the sentence it breaks off in, or the whole one it ends with."""
    return next((piece.strip() for piece in reversed(_CLAIM_END.split(text)) if piece.strip()), "")


def language_of(text: str) -> str:
    """The language a text is evidently in, as two letters, or nothing where few words or two languages speak."""
    for language, script in _SCRIPTS.items():
        if script.search(text):
            return language
    words = [word.lower() for word in analysis.words(text)]
    counts = Counter(
        {language: sum(word in known for word in words) for language, known in analysis.FUNCTION_WORDS.items()}
    )
    (first, most), (_, second) = counts.most_common(2)
    return first if most >= 2 and most > second else ""


class Passage:
    """A passage made ready for claims, as far as they ask for it: a quotation needs next to nothing."""

    def __init__(self, hit: Hit) -> None:
        self.hit = hit
        self.stems = hit.language or "en"

    @cached_property
    def page(self) -> Page:
        """The page, to find sentences on."""
        return Page(self.hit)

    @cached_property
    def sentences(self) -> list[str]:
        """What may support a claim."""
        return sentences(self.hit.text)

    @cached_property
    def terms(self) -> list[frozenset[str]]:
        """The content terms of each sentence."""
        return [self._terms(sentence, self.language) for sentence in self.sentences]

    @cached_property
    def said_in(self) -> Counter[str]:
        """How many sentences have each term."""
        return Counter(term for terms in self.terms for term in terms)

    @cached_property
    def known(self) -> frozenset[str]:
        """The terms of the passage with everything around it."""
        hit = self.hit
        around = " ".join((hit.title, *hit.breadcrumb, hit.section, hit.text[:LONGEST], hit.body[:LONGEST]))
        return self._terms(around, self.language)

    @cached_property
    def language(self) -> str:
        """The language it is evidently in."""
        return language_of(self.hit.text[:LONGEST] or self.hit.body[:LONGEST])

    def contradicts(self, claim: str) -> str:
        """Why the passage cannot support a claim; empty when it may.

        It cannot where it does not hold enough of the claim's content terms, or lacks a number of it. A claim that is
        evidently in another language, or of one word, gets the benefit of the doubt.
        """
        if says_unknown(claim):
            return "says that it is not documented"
        language = language_of(claim) or self.language
        if language != self.language or not self.sentences:
            return ""
        terms = {term for term in self._terms(claim, language) if len(term) > 1}
        shared = len(terms & self.known)
        if len(terms) >= JUDGED and shared < max(min(SHARED, len(terms) - 1), SHARE * len(terms)):
            return "shares too few terms with the passage"
        if _numbers(claim) - _numbers(f"{' '.join(self.hit.breadcrumb)} {self.hit.text[:LONGEST]}"):
            return "has a number that the passage lacks"
        return ""

    def best(self, claim: str, question: str) -> str:
        """The sentence that shares most with a claim, or with the question, else the first; empty without text.

        What few sentences of the passage have counts more: log(1 + sentences / those with the term).
        """
        claimed, asked = (self._terms(text, language_of(text)) for text in (claim, question))

        def shared(index: int) -> tuple[float, float, bool]:
            terms = self.terms[index]
            return self._weight(terms & claimed), self._weight(terms & asked), " " in self.sentences[index]

        # Of equals, `max` takes the first. One with a blank in it is not just a bracket of code.
        return self.sentences[max(range(len(self.sentences)), key=shared)] if self.sentences else ""

    def find(self, quoted: str) -> str:
        """The sentence of the text that was quoted, perhaps as Markdown; empty when nothing is like it."""
        flat = " ".join(quoted.split())
        if flat and flat in self.page.text[self.page.start :]:
            return flat
        return self.best(quoted, "") if self._terms(quoted, self.language) & self.said_in.keys() else ""

    def _weight(self, terms: Collection[str]) -> float:
        return sum(math.log1p(len(self.sentences) / self.said_in[term]) for term in sorted(terms))

    def _terms(self, text: str, language: str) -> frozenset[str]:
        """The content terms of a text in that language, stemmed as the passage is."""
        stop_words = analysis.STOP_WORDS | analysis.FUNCTION_WORDS.get(language, frozenset())
        words = [word for word in analysis.words(text) if word.lower() not in stop_words]
        return frozenset(term for term in analysis.terms(" ".join(words), self.stems) if not _KANA.fullmatch(term))
