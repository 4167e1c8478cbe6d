"""Which sentence of a passage supports a claim, and whether any can."""

import math
import re
from collections import Counter
from collections.abc import Collection
from functools import cached_property

from assistant.fragments import Page, lines
from search import analysis
from search.hits import Hit

LONGEST = 20_000  # characters of a passage that are looked at
JUDGED = 3  # content terms that a claim must have: "Yes" may be said of anything

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]{0,3}\s+(?=[^\sa-z])|(?<=[。！？])")
_CLAIM_END = re.compile(r"(?<=[.!?…])[*_\"'”’)\]]{0,8}\s+|(?<=[。！？])")

_NOT = r"(?:(?:do|does|did|is|are|was|were|has|have)(?: not|n['’]t)|cannot|can['’]t|never)"
_DOCS = r"(?:documentation|docs|passages?|excerpts?|(?:provided|given|available) (?:context|information|sources?|text))"
_COVERED = (
    r"(?:cover|mention|document|describe|specif|address|explain|discuss|includ|contain|provide|found|answer|state)"
)
_UNKNOWN = re.compile(
    rf"\b{_DOCS}\b[^.!?\n]{{0,40}}?\b{_NOT}\b(?: \w+){{0,2}}? (?:{_COVERED}|say|tell|list|have|give|go into)"
    rf"|\b(?:not|n['’]t) (?:\w+ )?{_COVERED}\w*\b[^.!?\n]{{0,40}}?\b{_DOCS}\b"
    r"|\b(?:I|we) (?:do(?: not|n['’]t)|can(?:not| not|['’]t)|could(?: not|n['’]t)|was(?: not|n['’]t) able to|"
    r"am unable to|(?:am|['’]m) not able to) (?:\w+ )?(?:know|find|see|tell|say|answer)\b"
    r"|\b(?:I am|I['’]m) (?:not sure|unsure)\b"
    rf"|\bno (?:information|mention|details?|answer|documentation)\b[^.!?\n]{{0,60}}?\b{_DOCS}\b"
    rf"|\b{_DOCS}\b[^.!?\n]{{0,20}}?\b(?:has|have|contains?|gives?|offers?|provides?|makes?)"
    r" no (?:information|mention|details?|answer)\b"
    r"|\bthere (?:is|are) no (?:information|mention|details?)\b",
    re.IGNORECASE,
)

# The commonest words of each language that `search.analysis` stems. A text speaks the one of whose words it has
# most: counting them tells languages apart well from a sentence on (Grefenstette 1995, "Comparing two language
# identification schemes").
_FUNCTION_WORDS = {
    "en": "the of and to in is that it for on with as are this be by from or an at not have has you can your which "
    "when if will was does do its their than all each no only into a",
    "de": "der die das und ist in den von zu mit sich auf für nicht ein eine einer eines dem des im es auch als an "
    "werden wird aus bei sind oder wenn nach kann wie nur über durch Sie man",
    "fr": "le la les de des et est un une du en que qui dans pour pas sur avec au par plus ce il sont ou se vous ne",
    "es": "el la los las de que y en un una es por con para se no del al lo como más su o si está son",
    "pt": "o a os as de que e em um uma é por com para se não do da no na dos das ao mais como ou ser são",
    "it": "il lo la gli le di che e in un una è per con non si del della dei da al nel sono come più o",
    "nl": "de het een van en in is dat op te zijn voor met niet die aan er om ook als bij door of wordt kan je",
    "sv": "och att det i en som på är av för med till den inte om ett har de kan från eller du vid",
    "da": "og at det i en som på er af for med til den ikke om et har de kan fra eller du ved",
    "no": "og å det i en som på er av for med til den ikke om et har de kan fra eller du ved",
    "fi": "ja on ei että se tai kun ovat voi joka myös jos mutta niin kuin sen ne ole",
    "ru": "и в не на с что по для это как из к от при или если за а но вы то его можно",
    "tr": "ve bir bu için ile de da olarak en ne gibi daha veya değil olan her çok",
    "ro": "și de la în a cu pe un o este nu să din care pentru că sau se mai sunt",
    "hu": "a az és hogy nem is egy van ez meg vagy ha de csak mint lehet el",
}
_SPOKEN = {language: frozenset(words.lower().split()) for language, words in _FUNCTION_WORDS.items()}
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
    return bool(_UNKNOWN.search(text))


def sentences(text: str) -> list[str]:
    """The sentences of a visible text, each as it stands in its block, blanks made single; lines of code as well."""
    found = (piece.strip() for line in lines(text[:LONGEST]) for piece in _SENTENCE_END.split(line))
    return [piece for piece in found if piece]


def last_sentence(text: str) -> str:
    """What a marker behind the text is about: the sentence it breaks off in, or the whole one it ends with."""
    return next((piece.strip() for piece in reversed(_CLAIM_END.split(text)) if piece.strip()), "")


def language_of(text: str) -> str:
    """The language a text is evidently in, as two letters, or nothing where few words or two languages speak."""
    for language, script in _SCRIPTS.items():
        if script.search(text):
            return language
    words = [word.lower() for word in analysis.words(text)]
    counts = Counter({language: sum(word in known for word in words) for language, known in _SPOKEN.items()})
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

        It cannot where both are evidently in one language and share no content term. A claim in another language,
        or with too few words to tell, gets the benefit of the doubt.
        """
        if says_unknown(claim):
            return "says that it is not documented"
        language = language_of(claim)
        if language and self.language == language:
            terms = self._terms(claim, language)
            if len(terms) >= JUDGED and not terms & self.known:
                return "shares no term with the passage"
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
        stop_words = analysis.STOP_WORDS | _SPOKEN.get(language, frozenset())
        words = [word for word in analysis.words(text) if word.lower() not in stop_words]
        return frozenset(term for term in analysis.terms(" ".join(words), self.stems) if not _KANA.fullmatch(term))
