"""Parse a reader's text into a query: its words as terms, corrected and completed with words of the index."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from search.text import analysis
from search.text.compounds import LANGUAGES as COMPOUNDING
from search.text.language import detect_language
from search.text.owner_words import NO_SYNONYMS, Phrase, Synonyms, load_equivalents
from search.text.terms import EngineQuery, Query, Term, rarity
from search.text.vocabulary import Vocabulary

MAX_TERMS = 32
CORRECTED = 0.8  # certainty that the reader meant the corrected (split, completed) word
SPLIT = 0.8
COMPOUND = 0.5  # certainty of a compound that ends with the reader's word
EQUIVALENT = 0.7  # certainty of another spelling or an abbreviation (`search/text/equivalents.txt`)
SYNONYM = 0.95  # certainty of a word that the owner calls a synonym of the reader's
COMPLETED = 0.9
POSSIBLY_COMPLETED = 0.3  # the same, where the typed word is in the index itself
JOINED = 0.5  # weight of two words that are a code name when joined
MIN_PREFIX = 2
MIN_NAME = 3  # letters of a word that can be the name of something
PREVIOUS = 0.6  # weight of a word that only a previous question has
CONTEXT = 0.3  # weight of a word that only the context has
MAX_CONTEXT_TERMS = 24
MIN_TERMS = 3  # a question with fewer is about its context
MAX_CONTEXT_WORDS = 8  # of the context, where the question is about it
MAX_CORRECTED = 8  # words of a query that are corrected
MAX_CONTEXT = 32_000  # characters of all selections together: one may be as long
COMMON = 0.3  # share of the sections that hold a common word
ENOUGH = 400  # sections; when so many hold a rarer word, common words are left out
MANY = 4000  # sections; on a large site only the rarer words select sections, until they select so many

Spelling = tuple[str, float]  # an index term and the certainty (0..1) that the reader meant it
Terms = dict[tuple[Spelling, ...], Term]  # by spellings, so that no term is there twice


def parse(
    text: str,
    vocabulary: Vocabulary,
    languages: Sequence[str] = ("en",),
    facets: Sequence[Sequence[str]] = (),
    context: Sequence[str] = (),
    previous_questions: str = "",
    synonyms: Synonyms = NO_SYNONYMS,
    preferred_language: str = "",
) -> Query:
    """Parse a text into a query. Every term has the stems of all `languages`.

    Only words that the index lacks are corrected. The last word may be the
    beginning of a word, unless a space follows it. Words of previous questions
    count less than the text's own, and of the context only the rarest words count,
    code names as a whole. A synonym counts nearly as much as the word itself.
    `preferred_language` is that of a text whose words do not tell it.
    """
    reader = _TermReader(vocabulary, languages, synonyms, preferred_language)
    words = analysis.shorten_addresses(text[:2000])
    terms, pairs = reader.read_terms(words, is_alone=not (context or previous_questions))
    unknown = reader.find_unknown(words)
    previous, _ = reader.read_terms(f"{previous_questions[:2000]} ", is_alone=False)
    for spellings, term in previous.items():
        terms.setdefault(spellings, replace(term, weight=term.weight * PREVIOUS))
    rarest = reader.rarest_words(" ".join(context)[:MAX_CONTEXT])
    is_complete = len(terms) >= MIN_TERMS  # "explain this option" is not: it is about the context
    weight = CONTEXT if is_complete else 1.0
    for form in rarest if is_complete else rarest[:MAX_CONTEXT_WORDS]:
        reader.add_term(terms, form, reader.stems(form), weight)
    chosen = list(terms.values())
    wording = text[:200]
    return Query(
        terms=chosen,
        pairs=pairs,
        facets=facets,
        name=analysis.name_of(wording),
        content_names=[
            *dict.fromkeys(analysis.content_name_of(wording, language) for language in languages),
            *analysis.path_names(wording, with_values=True),
        ],
        unknown_words=unknown,
        is_about_context=bool(rarest) and not is_complete,
        engine_queries=_plan_engine_queries(chosen, vocabulary),
    )


def _plan_engine_queries(terms: Sequence[Term], vocabulary: Vocabulary) -> list[EngineQuery]:
    """The queries for the engine. Words of nearly every section are left out where rarer words find enough.

    A spelling is as rare as its term: else pages in a language whose stem few pages have would come first.
    """
    counts: dict[str, int] = {}  # for each spelling: how many sections hold the rarest term that it belongs to
    for term in terms:
        known = [spelling for spelling, _ in term.spellings if spelling in vocabulary.terms]
        count = min(vocabulary.sections, sum(vocabulary.terms[spelling] for spelling in known))
        counts |= {spelling: min(count, counts.get(spelling, count)) for spelling in known}
    held = sorted((vocabulary.terms[spelling], spelling) for spelling in counts)
    every = {
        spelling: rarity(vocabulary.sections, counts[spelling]) / rarity(vocabulary.sections, own)
        for own, spelling in held
    }
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
    narrow, wide = EngineQuery(frozenset(needed), scored), EngineQuery(frozenset(every), every)
    return [narrow, wide] if narrow != wide else [wide] if every else []


def _list_minor_words(language: str) -> frozenset[str]:
    """The stop words of a text: in any language but English, all words of English without a sense of their own, too."""
    own = frozenset[str]() if language == "en" else analysis.FUNCTION_WORDS.get(language, frozenset())
    return analysis.STOP_WORDS | own


class _TermReader:
    """Turns words into terms, with the vocabulary of an index."""

    def __init__(
        self, vocabulary: Vocabulary, languages: Sequence[str], synonyms: Synonyms, preferred_language: str
    ) -> None:
        self.vocabulary = vocabulary
        self.preferred_language = preferred_language
        self.languages = languages
        self.synonyms = synonyms
        self.equivalents = load_equivalents() if "en" in languages else NO_SYNONYMS
        self.corrected = 0
        self.minor = analysis.STOP_WORDS

    def read_terms(self, text: str, is_alone: bool) -> tuple[Terms, list[tuple[str, str]]]:
        """The terms of a text, and the pairs of terms that stand side by side."""
        language = detect_language(text)
        self.minor = _list_minor_words(language)
        words = self.select_words(analysis.tokens(text, self.vocabulary.terms), is_alone)
        is_typing = bool(text) and not text[-1].isspace() and bool(words) and text.rstrip().endswith(words[-1])
        language = language or self.preferred_language
        compounds = self.vocabulary.compounds(language) if language in COMPOUNDING else None
        content = [word.lower() for word in words[:MAX_TERMS] if word.lower() not in self.minor]
        found = compounds.find(content) if compounds else {}
        terms: Terms = {}
        line: list[str] = []  # the terms in the order of the words, for pairs
        forms_before = ""
        phrase_end = 0
        for at, word in enumerate(words):
            if len(terms) >= MAX_TERMS:
                break
            if at < phrase_end:
                continue
            length, others = self.synonyms.find(words[at : at + self.synonyms.longest], self.languages)
            if length:
                phrase_end, forms_before = at + length, ""
                line += self.add_phrase(terms, words[at:phrase_end], others, is_typing and phrase_end == len(words))
                continue
            length, others = self.equivalents.find(words[at : at + self.equivalents.longest], ("en",))
            is_last = is_typing and at == len(words) - 1
            may_be_longer = is_last and self.vocabulary.completions(word.lower())
            if length == 1 and not may_be_longer and any(len(phrase) > 1 for phrase in others):  # an abbreviation
                forms_before = ""
                line += self.add_phrase(terms, [word], others, False, EQUIVALENT)
                continue
            equivalents = [phrase[0] for phrase in others if self.is_known(phrase[0])]
            if length > 1:
                for other in equivalents:
                    self.add_term(terms, other, self.stems(other), JOINED)
                equivalents = []
            if compounds and not length and (parts := compounds.split(word.lower())):
                forms_before = ""
                line += self.add_phrase(terms, [word], [parts], is_last, SPLIT)
                continue
            forms, names = analysis.split_name(word)
            if length == 1 and names:  # k8s, i18n
                forms, names = names[-1:], []
            for number, form in enumerate(forms):
                for spellings in self.interpret(form, is_last and number == len(forms) - 1):
                    spellings = self.merge(spellings, equivalents, EQUIVALENT)
                    for compound, has_both in found.get(word.lower(), {}).items():
                        spellings = self.merge(spellings, [compound], SPLIT if has_both else COMPOUND)
                    self.add_term(terms, form, spellings)
                    line.append(spellings[0][0])
            for name in names:
                longer = self.vocabulary.completions(name) if is_last else []
                known = self.stems(name) if self.is_known(name) else []
                if known or longer:
                    certainty = POSSIBLY_COMPLETED if known else COMPLETED
                    self.add_term(terms, name, self.merge(known, longer, certainty), JOINED)
            if len(forms) == 1 and forms_before and (pair := self.joined_name(forms_before, forms[0])):
                self.add_term(terms, pair, self.stems(pair), JOINED)
            forms_before = forms[0] if len(forms) == 1 else ""
        return dict(list(terms.items())[:MAX_TERMS]), list(dict.fromkeys(pairwise(line)))

    def find_unknown(self, text: str) -> list[str]:
        """The words, and parts of code names, of a complete English text that the index lacks.

        Misspelt words, and words with a synonym or another spelling that the index has, are left out.

        `VitePress` is one word, although the index may have both of its parts.
        """
        if not text[-1:].isspace() or "en" not in self.languages or detect_language(text) not in ("", "en"):
            return []
        forms: dict[str, None] = {}
        for word in self.select_words(analysis.words(text), is_alone=False):
            parts, names = analysis.split_name(word)
            forms |= dict.fromkeys(names[-1:] if names and word.isalpha() else parts)
        unknown = [form for form in forms if len(form) >= MIN_NAME and form.isalpha() and not self.is_known(form)]
        return [
            form for form in unknown[:MAX_CORRECTED] if not (self.is_meant(form) or self.vocabulary.corrections(form))
        ]

    def is_meant(self, form: str) -> bool:
        """Whether the index has words that mean the same."""
        others = (*self.synonyms.find([form], self.languages)[1], *self.equivalents.find([form], ("en",))[1])
        return any(all(map(self.is_known, phrase)) for phrase in others)

    def add_phrase(
        self, terms: Terms, words: list[str], others: Sequence[Phrase], is_last: bool, certainty: float = SYNONYM
    ) -> list[str]:
        """Add the terms of a phrase with synonyms. Returns the index terms of its own words.

        The first term stands for the first word of each phrase, and so on. A phrase with fewer words than the longest
        one begins again, so that it holds every term. The terms together are as rare as those of the words alone.
        """
        own = [spelled for word in words for spelled in self.spell(word, is_last and word == words[-1])]
        more = [[spelled for word in phrase for spelled in self.spell(word, False)] for phrase in others]
        count = max(map(len, [own, *more]))
        for number in range(count):
            spellings = dict(own[number % len(own)])
            for phrase in more:
                for spelling, own_certainty in phrase[number % len(phrase)]:
                    spellings[spelling] = max(spellings.get(spelling, 0.0), own_certainty * certainty)
            self.add_term(terms, " ".join(words), list(spellings.items()), share=len(own) / count)
        return [spelled[0][0] for spelled in own]

    def spell(self, word: str, may_be_incomplete: bool) -> list[list[Spelling]]:
        """The spellings of each term of a word that has synonyms. Such a word is never corrected."""
        forms, names = analysis.split_name(word)
        if names and (self.is_known(names[-1]) or any(len(form) == 1 for form in forms)):
            return [self.stems(names[-1])]  # k8s, i18n
        may_be_incomplete = may_be_incomplete and len(forms) == 1 and self.is_known(forms[0])
        return [self.interpret(form, True)[0] if may_be_incomplete else self.stems(form) for form in forms]

    def select_words(self, words: list[str], is_alone: bool) -> list[str]:
        """The words without stop words. One stays in a code name (`use chat`), or where there is nothing else."""
        joined = [bool(self.joined_name(before.lower(), after.lower())) for before, after in pairwise(words)]
        named = [before or after for before, after in zip([False, *joined], [*joined, False], strict=True)]
        pairs = zip(words, named, strict=False)
        content = [word for word, is_named in pairs if is_named or word.lower() not in analysis.STOP_WORDS]
        return content or (words if is_alone else [])

    def joined_name(self, before: str, after: str) -> str:
        """Two words as one name, if the index has it; else empty. Words such as `or` are never a part of a name."""
        is_name = analysis.OPERATORS.isdisjoint((before, after)) and before + after in self.vocabulary.forms
        return before + after if is_name else ""

    def rarest_words(self, context: str) -> list[str]:
        """The forms in the context that the fewest sections hold, rarest first."""
        found: dict[str, int] = {}
        for word in analysis.words(context):
            if word.lower() in analysis.STOP_WORDS:
                continue
            forms, names = analysis.split_name(word)
            for form in names[-1:] if names and names[-1] in self.vocabulary.forms else forms:
                if count := self.vocabulary.forms.get(form, 0):
                    found[form] = count
        return sorted(found, key=lambda form: (found[form], form))[:MAX_CONTEXT_TERMS]

    def add_term(
        self, terms: Terms, word: str, spellings: list[Spelling], weight: float = 1.0, share: float = 1.0
    ) -> None:
        key = tuple(spellings)
        if key not in terms:
            holding = sum(self.vocabulary.terms.get(spelling, 0) for spelling, _ in spellings)
            sections = self.vocabulary.sections
            terms[key] = Term(
                key, weight, rarity(sections, min(sections, holding)) * share, word, word.lower() in self.minor
            )

    def is_known(self, form: str) -> bool:
        return any(analysis.stem(form, language) in self.vocabulary.terms for language in self.languages)

    def stems(self, form: str, certainty: float = 1.0) -> list[Spelling]:
        return [
            (stem, certainty) for stem in dict.fromkeys(analysis.stem(form, language) for language in self.languages)
        ]

    def interpret(self, form: str, may_be_incomplete: bool) -> list[list[Spelling]]:
        """The spellings of each term that a form stands for: one term, or two where two words were written as one.

        With `may_be_incomplete`, longer words that begin with the form count as spellings, too.
        """
        known = self.is_known(form)
        spelled = self.stems(form)
        is_prefix = may_be_incomplete and (len(form) >= MIN_PREFIX or not form.isascii())
        if is_prefix and (found := self.vocabulary.completions(form)):
            return [self.merge(spelled, found, POSSIBLY_COMPLETED if known else COMPLETED)]
        if known:
            return [spelled]
        self.corrected += 1
        if self.corrected > MAX_CORRECTED:
            return [spelled]
        if found := self.vocabulary.corrections(form):
            return [self.merge([], found, CORRECTED)]
        if halves := self.vocabulary.split(form):
            return [self.stems(half, SPLIT) for half in halves]
        return [spelled]

    def merge(self, spelled: list[Spelling], forms: list[str], certainty: float) -> list[Spelling]:
        more = [pair for form in forms for pair in self.stems(form, certainty)]
        merged: dict[str, float] = {}
        for spelling, value in spelled + more:
            merged[spelling] = max(value, merged.get(spelling, 0.0))
        return list(merged.items())
