"""Finds the sentence of a passage that supports a claim, and says if the passage cannot support it.

With a passage "Acme runs on Linux. It takes a minute.":

    find_objection("Bananas grow in Ecuador")   "shares too few terms with the passage"
    find_objection("It takes 500 minutes")      "has a number that the passage lacks"
    best_sentence("It takes about a minute")    "It takes a minute."

Both compare stemmed content words; no model is asked.
"""

import functools
import math
import re
from collections import Counter
from collections.abc import Collection
from functools import cached_property

from assistant.citations.refusal_phrases import find_answered_part
from assistant.citations.text_fragments import PageText, visible_lines
from search.hits import Hit
from search.text import analysis
from search.text.language import detect_language

MAX_TEXT = 20_000  # characters of a passage that are used
MAX_WEIGHED = 8  # texts whose weights are cached for a passage
MIN_CLAIM_TERMS = 2  # a claim with fewer content terms, such as "Yes", is not judged
MIN_SHARED_TERMS = 2
MIN_SHARED_PART = 0.2  # of the terms of a long claim, which has many words of the model's own

_CODE_SPAN = re.compile(r"(?<!`)`++[^`]++`++")
# Two digits or more: a model may count to nine by itself.
_NUMBER = re.compile(r"(?:(?<![\w.])|(?<=[1-9]x)|(?<=\d\dx))\d[\d.,]*\d(?:(?=x\d)|(?!\w))")
_OPERATION = re.compile(r"(?:[\d)]\s?|\s)[*×·÷/+](?:\s|\s?[\d(])")  # of a calculation
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]{0,3}\s+(?=[^\sa-z])|(?<=[。！？])")
_CLAIM_END = re.compile(r"(?<=[.!?…])[*_\"'”’)\]]{0,8}\s+|(?<=[。！？])")

_HIRAGANA = re.compile(r"[\u3041-\u309f]+")


class Passage:
    """A passage with the data to check claims against it, computed when it is first needed."""

    def __init__(self, hit: Hit) -> None:
        self.hit = hit
        self.stemmer_language = hit.language or "en"
        self._weights: dict[str, list[float]] = {}

    def find_objection(self, claim: str, given_numbers: Collection[str] = ()) -> str:
        """Say why the passage cannot support a claim; empty when it may.

        It cannot when it shares too few content terms with the claim, or lacks a number of it. Numbers in inline code
        may be an example, those that the reader gave are not from the passage, and a calculation has a result of its
        own. The terms of a claim in another language, or of one word, are not judged.
        """
        answered = find_answered_part(claim)
        if claim and not answered:
            return "says that it is not documented"
        claim = answered
        prose = _CODE_SPAN.sub(" ", claim)
        is_calculation = ("=" in prose or "≈" in prose) and _OPERATION.search(prose)
        if not is_calculation and find_numbers(prose).difference(self._numbers, given_numbers):
            return "has a number that the passage lacks"
        language = detect_language(claim) or self._language
        if language != self._language or not self._sentences:
            return ""
        terms = {term for term in self._content_terms(claim, language) if len(term) > 1}
        needed = max(min(MIN_SHARED_TERMS, len(terms) - 1), MIN_SHARED_PART * len(terms))
        if len(terms) >= MIN_CLAIM_TERMS and len(terms & self._all_terms) < needed:
            return "shares too few terms with the passage"
        return ""

    def best_sentence(self, claim: str, question: str) -> str:
        """Find the sentence that shares most with the claim, else with the question, else the first one.

        Empty for a passage without text. A term counts more when fewer sentences have it:
        log(1 + sentences / sentences with the term).
        """
        claim_weights, question_weights = self._weigh_sentences(claim), self._weigh_sentences(question)

        def rank(index: int) -> tuple[float, float, bool]:
            has_blank = " " in self._sentences[index]  # without one it may be only a bracket of code
            return claim_weights[index], question_weights[index], has_blank

        return self._sentences[max(range(len(self._sentences)), key=rank)] if self._sentences else ""

    def find_sentence(self, quoted: str) -> str:
        """The sentence of the passage most like a quoted one (which may have Markdown); empty if none shares a word."""
        flat = " ".join(quoted.split())
        if flat and flat in self.page.text[self.page.start :]:
            return flat
        is_similar = self._content_terms(quoted, self._language) & self._sentence_counts.keys()
        return self.best_sentence(quoted, "") if is_similar else ""

    @cached_property
    def page(self) -> PageText:
        """The text of the page, to build links to sentences."""
        return PageText(self.hit)

    @cached_property
    def _sentences(self) -> list[str]:
        return split_sentences(self.hit.text)

    @cached_property
    def _sentence_terms(self) -> list[frozenset[str]]:
        return [self._content_terms(sentence, self._language) for sentence in self._sentences]

    @cached_property
    def _sentence_counts(self) -> Counter[str]:
        """How many sentences have each term."""
        return Counter(term for terms in self._sentence_terms for term in terms)

    @cached_property
    def _all_terms(self) -> frozenset[str]:
        """The terms of the passage, its title and its headings."""
        hit = self.hit
        others = " ".join((hit.title, *hit.breadcrumb, hit.section, hit.body[:MAX_TEXT]))
        return self._content_terms(others, self._language).union(*self._sentence_terms)

    @cached_property
    def _language(self) -> str:
        return detect_language(self.hit.text[:MAX_TEXT] or self.hit.body[:MAX_TEXT])

    @cached_property
    def _numbers(self) -> set[str]:
        return find_numbers(f"{' '.join(self.hit.breadcrumb)} {self.hit.text[:MAX_TEXT]}")

    def _weigh_sentences(self, text: str) -> list[float]:
        """How much each sentence shares with a text. Cached: markers in a row have one claim, all have one question."""
        if text not in self._weights:
            if len(self._weights) >= MAX_WEIGHED:
                self._weights.clear()
            terms = self._content_terms(text, detect_language(text))
            self._weights[text] = [self._weigh(each & terms) for each in self._sentence_terms]
        return self._weights[text]

    def _weigh(self, terms: Collection[str]) -> float:
        return sum(math.log1p(len(self._sentences) / self._sentence_counts[term]) for term in sorted(terms))

    def _content_terms(self, text: str, language: str) -> frozenset[str]:
        """The terms of a text without its stop words, stemmed in the language of the passage."""
        stop_words = _list_stop_words(language)
        words = (word for word in set(analysis.words(text)) if word.lower() not in stop_words)
        terms = analysis.terms_of(words, self.stemmer_language)
        return frozenset(term for term in terms if term.isascii() or not _HIRAGANA.fullmatch(term))


@functools.cache
def _list_stop_words(language: str) -> frozenset[str]:
    """Words of English and of a language that say nothing about a claim."""
    return analysis.STOP_WORDS | analysis.FUNCTION_WORDS.get(language, frozenset())


def split_sentences(text: str) -> list[str]:
    """The sentences and lines of code that a reader sees of Markdown. Only its first `MAX_TEXT` characters are read."""
    found = (piece.strip() for line in visible_lines(text[:MAX_TEXT]) for piece in _SENTENCE_END.split(line))
    return [piece for piece in found if piece]


def extract_claim(text: str) -> str:
    """The claim that a marker behind the text is about: its last sentence, finished or not."""
    return next((piece.strip() for piece in reversed(_CLAIM_END.split(text)) if piece.strip()), "")


def find_numbers(text: str) -> set[str]:
    """The numbers of a text, without thousands separators and with a decimal point. `80x25` are two."""
    return {re.sub(r"[,.](?=\d{3}\b)", "", number).replace(",", ".") for number in _NUMBER.findall(text)}
