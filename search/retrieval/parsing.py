"""A reader's text to a query: its words as terms, corrected and completed by what the index holds."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from search.text import analysis
from search.text.terms import (
    Query,
    Term,
    Wanted,
    rarity,
)
from search.text.vocabulary import Vocabulary

MOST_TERMS = 32
CORRECTED = 0.8  # how surely a corrected, a split, a completed word is what was meant
SPLIT = 0.8
COMPLETED = 0.9
PERHAPS = 0.3  # a completion of a last word that is a word already
JOINED = 0.5  # weight of two words that are a code name when written as one
SHORTEST_PREFIX = 2
LEAD = 0.6  # weight of a word that only an earlier question has
CONTEXT = 0.3  # weight of a word that only the context has
MOST_CONTEXT_TERMS = 24
ENOUGH_TERMS = 3  # with fewer a question is about its context
MOST_INSTEAD = 8  # words of the context, where it is that
MOST_CORRECTED = 8  # words of a query
MOST_CONTEXT = 100_000  # characters
COMMON = 0.3  # share of the sections that hold a common word
ENOUGH = 400  # sections
MANY = 4000  # sections; on a large site only those are looked at that hold one of the rarer words


def parse(
    text: str,
    vocabulary: Vocabulary,
    languages: Sequence[str] = ("en",),
    facets: Sequence[Sequence[str]] = (),
    context: Sequence[str] = (),
    lead: str = "",
) -> Query:
    """The query of a text. Every term is spelled as each of the languages would stem it.

    Words of `lead`, what was asked before, count less than the text's own.

    Only words that the index lacks are corrected. The last word is also taken
    as the beginning of one, unless a space follows it. Of the context the
    rarest words count a little, code names whole.
    """
    reader = _Reader(vocabulary, languages)
    terms, pairs = reader.read(text[:2000], alone=not (context or lead))
    before, _ = reader.read(f"{lead[:2000]} ", alone=False)
    for spellings, term in before.items():
        terms.setdefault(spellings, replace(term, weight=term.weight * LEAD))
    told = reader.rarest(" ".join(context)[:MOST_CONTEXT])
    by_itself = len(terms) >= ENOUGH_TERMS  # "explain this option" asks for the context
    weight = CONTEXT if by_itself else 1.0
    for form in told if by_itself else told[:MOST_INSTEAD]:
        reader.put(terms, form, reader.spelled(form), weight)
    chosen = list(terms.values())
    name = analysis.name_of(text[:200])
    return Query(chosen, pairs, facets, name, bool(told) and not by_itself, _asked(chosen, vocabulary))


def _asked(terms: Sequence[Term], vocabulary: Vocabulary) -> list[Wanted]:
    """What engines look for. Words that nearly every section has are left out where rarer ones find enough."""
    spellings = {spelling for term in terms for spelling, _ in term.spellings}
    held = sorted((vocabulary.terms[spelling], spelling) for spelling in spellings if spelling in vocabulary.terms)
    every = {spelling: rarity(vocabulary.sections, holding) for holding, spelling in held}
    needed: set[str] = set()
    scored: dict[str, float] = {}
    found = 0
    for holding, spelling in held:
        if holding > COMMON * vocabulary.sections and found > ENOUGH:
            break
        if found <= MANY:
            needed.add(spelling)
        scored[spelling] = every[spelling]
        found += holding
    narrow, wide = Wanted(frozenset(needed), scored), Wanted(frozenset(every), every)
    return [narrow, wide] if narrow != wide else [wide] if every else []


class _Reader:
    def __init__(self, vocabulary: Vocabulary, languages: Sequence[str]) -> None:
        self.vocabulary = vocabulary
        self.languages = languages
        self.corrected = 0

    def read(self, text: str, alone: bool) -> tuple[dict[tuple[tuple[str, float], ...], Term], list[tuple[str, str]]]:
        words = self.content(analysis.words(text), alone)
        typing = bool(text) and not text[-1].isspace() and bool(words) and text.rstrip().endswith(words[-1])
        terms: dict[tuple[tuple[str, float], ...], Term] = {}
        line: list[str] = []  # the terms of the words as they stand, for what stands side by side
        forms_before = ""
        for at, word in enumerate(words):
            if len(terms) >= MOST_TERMS:
                break
            forms, names = analysis.split_name(word)
            last = typing and at == len(words) - 1
            for number, form in enumerate(forms):
                for spellings in self.meant(form, last and number == len(forms) - 1):
                    self.put(terms, form, spellings)
                    line.append(spellings[0][0])
            for name in names:
                longer = self.vocabulary.completions(name) if last else []
                known = self.spelled(name) if self.known(name) else []
                if known or longer:
                    self.put(terms, name, self.merged(known, longer, PERHAPS if known else COMPLETED), JOINED)
            if len(forms) == 1:
                if forms_before and (pair := forms_before + forms[0]) in self.vocabulary.forms:
                    self.put(terms, pair, self.spelled(pair), JOINED)
                forms_before = forms[0]
            else:
                forms_before = ""
        return dict(list(terms.items())[:MOST_TERMS]), list(dict.fromkeys(pairwise(line)))

    def content(self, words: list[str], alone: bool) -> list[str]:
        """The words that count: a stop word only in a code name (`use chat`), or where nothing else is left at all."""
        joined = ["".join(pair).lower() in self.vocabulary.forms for pair in pairwise(words)]
        named = [one or other for one, other in zip([False, *joined], [*joined, False], strict=True)]
        pairs = zip(words, named, strict=False)
        content = [word for word, kept in pairs if kept or word.lower() not in analysis.STOP_WORDS]
        return content or (words if alone else [])

    def rarest(self, context: str) -> list[str]:
        found: dict[str, int] = {}
        for word in analysis.words(context):
            if word.lower() in analysis.STOP_WORDS:
                continue
            forms, names = analysis.split_name(word)
            for form in names[-1:] if names and names[-1] in self.vocabulary.forms else forms:
                if count := self.vocabulary.forms.get(form, 0):
                    found[form] = count
        return sorted(found, key=lambda form: (found[form], form))[:MOST_CONTEXT_TERMS]

    def put(
        self,
        terms: dict[tuple[tuple[str, float], ...], Term],
        word: str,
        spellings: list[tuple[str, float]],
        weight: float = 1.0,
    ) -> None:
        key = tuple(spellings)
        if key not in terms:
            holding = sum(self.vocabulary.terms.get(spelling, 0) for spelling, _ in spellings)
            sections = self.vocabulary.sections
            terms[key] = Term(key, weight, rarity(sections, min(sections, holding)), word)

    def known(self, form: str) -> bool:
        return any(analysis.stem(form, language) in self.vocabulary.terms for language in self.languages)

    def spelled(self, form: str, sure: float = 1.0) -> list[tuple[str, float]]:
        return [(stem, sure) for stem in dict.fromkeys(analysis.stem(form, language) for language in self.languages)]

    def meant(self, form: str, last: bool) -> list[list[tuple[str, float]]]:
        """The terms that a form stands for: mostly one; two where it was two words written as one."""
        known = self.known(form)
        spelled = self.spelled(form)
        if (
            last
            and (len(form) >= SHORTEST_PREFIX or not form.isascii())
            and (found := self.vocabulary.completions(form))
        ):
            return [self.merged(spelled, found, PERHAPS if known else COMPLETED)]
        if known:
            return [spelled]
        self.corrected += 1
        if self.corrected > MOST_CORRECTED:
            return [spelled]
        if found := self.vocabulary.corrections(form):
            return [self.merged([], found, CORRECTED)]
        if halves := self.vocabulary.split(form):
            return [self.spelled(half, SPLIT) for half in halves]
        return [spelled]

    def merged(self, spelled: list[tuple[str, float]], forms: list[str], sure: float) -> list[tuple[str, float]]:
        more = [pair for form in forms for pair in self.spelled(form, sure)]
        merged: dict[str, float] = {}
        for spelling, how in spelled + more:
            merged[spelling] = max(how, merged.get(spelling, 0.0))
        return list(merged.items())
