"""Compounds such as `Datenbankverbindung`, split with the words of the pages themselves.

A word is a compound if its first part is a word of the pages (Koehn & Knight 2003, "Empirical methods for compound
splitting"). `languages.toml` has the letters that link two parts, and prefixes that are no parts.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from heapq import nlargest

from search.text import analysis

LANGUAGES = frozenset(code for code, words in analysis.LANGUAGES.items() if "links" in words) | {"nb"}
MIN_FIRST, MIN_LAST = 3, 4  # letters of the parts
MAX_FOUND = 24  # compounds that a word alone finds, the commonest first


class Compounds:
    """The compounds among the words of an index, in a language that has them. Accents do not count."""

    def __init__(self, terms: Counter[str], forms: Counter[str], language: str) -> None:
        table = analysis.table_of(language)
        self._terms, self._language = terms, language
        self._links = ("", *table["links"].split())
        self._prefixes = frozenset([*table["prefixes"].split(), *table["common"].lower().split()])
        long = (form for form in forms if len(form) >= MIN_FIRST + MIN_LAST and form.isalpha())
        self._forms = "\n".join(("", *map(analysis.to_plain, long), ""))  # to search all at once

    def split(self, word: str) -> tuple[str, str] | None:
        """The parts of a compound, if the pages have both as words; the pair whose rarer word is commonest."""
        plain = analysis.to_plain(word)
        pairs = ((self._find_first(plain[:at]), plain[at:]) for at in range(MIN_FIRST, len(plain) - MIN_LAST + 1))
        counts = {pair: min(self._terms[self._stem(part)] for part in pair) for pair in pairs if pair[0]}
        best = max(counts, key=counts.__getitem__, default=None)
        return best if best and counts[best] else None

    def find(self, words: Sequence[str]) -> dict[str, dict[str, bool]]:
        """For each word of a query the compounds that hold it, and whether the query has both parts of them.

        A compound whose other part the query lacks is found for its last part only.
        """
        by_stem = {self._stem(word): word for word in words}
        found: defaultdict[str, dict[str, bool]] = defaultdict(dict)
        for stem, word in by_stem.items():
            alone: dict[str, str] = {}
            for first, compound in self._find_ending(word, stem):
                if other := by_stem.get(self._stem(first)):
                    found[word][compound] = found[other][compound] = True
                else:
                    alone[self._stem(compound)] = compound
            commonest = nlargest(MAX_FOUND, alone, key=self._terms.__getitem__)
            found[word] |= {alone[compound]: False for compound in commonest}
        return found

    def _find_ending(self, word: str, stem: str) -> Iterator[tuple[str, str]]:
        """The compounds that end with a form of a word, each behind its first part."""
        beginning = stem if analysis.to_plain(word).startswith(stem) else stem[:MIN_FIRST]  # of all forms of the word
        at = self._forms.find(beginning) if len(word) >= MIN_LAST and len(beginning) >= MIN_FIRST else -1
        while at >= 0:
            start, end = self._forms.rfind("\n", 0, at) + 1, self._forms.find("\n", at)
            if self._stem(self._forms[at:end]) == stem and (first := self._find_first(self._forms[start:at])):
                yield first, self._forms[start:end]
            at = self._forms.find(beginning, at + 1)

    def _find_first(self, text: str) -> str:
        """The beginning of a compound as a word of the pages, without a link; empty if it is none."""
        words = (text.removesuffix(link) for link in self._links if text.endswith(link))
        return next((word for word in words if self._is_part(word)), "")

    def _is_part(self, word: str) -> bool:
        return len(word) >= MIN_FIRST and word not in self._prefixes and self._stem(word) in self._terms

    def _stem(self, word: str) -> str:
        return analysis.stem(word, self._language)
