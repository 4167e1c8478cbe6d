"""The words of an index and their counts: for rarity, spelling and completion without a query to the engine."""

import json
import sys
import zlib
from base64 import b64decode, b64encode
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from rapidfuzz import process
from rapidfuzz.distance import OSA

from search.text.compounds import Compounds

MAX_CORRECTIONS = 3
MAX_COMPLETIONS = 8
_COMPOUND_BYTES = 40  # of a form, in two languages with compounds
_WORD_BYTES = 110  # measured, with its place in both counters and the sorted lists


@dataclass
class Vocabulary:
    """Counts of one index: its sections, and how many of them hold each term (stemmed) and each form (as written)."""

    sections: int = 0
    terms: Counter[str] = field(default_factory=Counter)
    forms: Counter[str] = field(default_factory=Counter)
    _compounds: dict[str, Compounds] = field(default_factory=dict, compare=False)

    def add(self, found: Iterable[tuple[set[str], set[str]]], sign: int = 1) -> None:
        """Count sections in, or out with sign -1, each by its terms and its forms."""
        for terms, forms in found:
            self.sections += sign
            for counter, seen in ((self.terms, terms), (self.forms, forms)):
                (counter.update if sign > 0 else counter.subtract)(seen)

    def merge(self, other: "Vocabulary") -> None:
        """Count in the sections of another one."""
        self.sections += other.sections
        self.terms.update(other.terms)
        self.forms.update(other.forms)

    @property
    def nbytes(self) -> int:
        """About the memory that it takes with its sorted copies and its compounds."""
        return _WORD_BYTES * len(self.terms) + (_WORD_BYTES + _COMPOUND_BYTES) * len(self.forms)

    def encode(self) -> bytes:
        """The bytes to store."""
        counts = [{name: n for name, n in counter.items() if n > 0} for counter in (self.terms, self.forms)]
        return zlib.compress(json.dumps([self.sections, *counts], ensure_ascii=False).encode(), 3)

    @classmethod
    def decode(cls, stored: bytes) -> "Vocabulary":
        """Decode the bytes of `encode`; no bytes give an empty vocabulary."""
        sections, *counts = json.loads(zlib.decompress(stored)) if stored else (0, {}, {})
        # The indexes of a process have most of their words in common.
        terms, forms = (Counter({sys.intern(name): n for name, n in counter.items()}) for counter in counts)
        return cls(sections, terms, forms)

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.forms)

    @cached_property
    def _by_length(self) -> dict[int, list[str]]:
        lengths: dict[int, list[str]] = {}
        for form in self.forms:
            lengths.setdefault(len(form), []).append(form)
        return lengths

    def compounds(self, language: str) -> Compounds:
        """The compounds among the words, in a language that has them."""
        if language not in self._compounds:
            self._compounds[language] = Compounds(self.terms, self.forms, language)
        return self._compounds[language]

    def completions(self, prefix: str) -> list[str]:
        """The commonest longer forms that begin with the prefix."""
        at = bisect_left(self._sorted, prefix)
        found = []
        while at < len(self._sorted) and self._sorted[at].startswith(prefix):
            if self._sorted[at] != prefix:
                found.append(self._sorted[at])
            at += 1
        return sorted(found, key=lambda form: (-self.forms[form], form))[:MAX_COMPLETIONS]

    def corrections(self, form: str) -> list[str]:
        """Corrections of a misspelt form, likeliest first: one edit away, or two from eight letters on.

        An edit is a letter too many, missing, wrong, or two swapped (optimal string alignment).
        """
        if len(form) < 4 or not form.isalpha():
            return []
        edits = 2 if len(form) >= 8 else 1
        lengths = range(len(form) - edits, len(form) + edits + 1)
        near = [known for length in lengths for known in self._by_length.get(length, ())]
        found = [
            (distance, known[0] != form[0], -self.forms[known], known)
            for known, distance, _ in process.extract(
                form, near, scorer=OSA.distance, score_cutoff=edits, limit=None, processor=None
            )
        ]
        found.sort()
        return [known for distance, *_, known in found if distance == found[0][0]][:MAX_CORRECTIONS]

    def split(self, form: str) -> tuple[str, str] | None:
        """Two words that were written as one, if both occur; the pair whose rarer word is commonest."""
        halves = [(form[:cut], form[cut:]) for cut in range(3, len(form) - 2)]
        known = [pair for pair in halves if pair[0] in self.forms and pair[1] in self.forms]
        return max(known, key=lambda pair: min(self.forms[half] for half in pair), default=None)


@dataclass
class IndexVocabulary:
    """The vocabularies of an index by `Document.groups`: those of public pages have the key "".

    Stored ones stay compressed until they are needed, since pages may be for hundreds of groups.
    """

    counted: dict[str, Vocabulary] = field(default_factory=dict)
    stored: dict[str, bytes] = field(default_factory=dict)

    @property
    def columns(self) -> frozenset[str]:
        """The `Document.groups` that it knows."""
        return frozenset([*self.counted, *self.stored])

    def select(self, columns: Iterable[str]) -> Vocabulary:
        """The vocabulary of the pages with these `Document.groups`. Do not change it."""
        first, *others = [self.counted.get(key) or Vocabulary.decode(self.stored.get(key, b"")) for key in columns]
        if not others:
            return first
        selected = Vocabulary()
        for words in (first, *others):
            selected.merge(words)
        return selected

    def add(self, groups: str, found: Iterable[tuple[set[str], set[str]]], sign: int = 1) -> None:
        """Count sections of pages with these groups in, or out with sign -1, as `Vocabulary.add` does."""
        self._open(groups).add(found, sign)

    def merge(self, other: "IndexVocabulary") -> None:
        """Count in the sections of another one."""
        for groups in other.columns:
            self._open(groups).merge(other.select([groups]))

    def _open(self, groups: str) -> Vocabulary:
        if groups not in self.counted:
            self.counted[groups] = Vocabulary.decode(self.stored.pop(groups, b""))
        return self.counted[groups]

    def encode(self) -> bytes:
        """The bytes to store: the words of public pages, or those of all groups as a JSON object."""
        parts = self.stored | {key: words.encode() for key, words in self.counted.items() if words.sections > 0}
        if not parts.keys() - {""}:
            return parts.get("") or Vocabulary().encode()
        return json.dumps({key: b64encode(part).decode() for key, part in parts.items()}).encode()

    @classmethod
    def decode(cls, stored: bytes) -> "IndexVocabulary":
        """Decode the bytes of `encode`; no bytes give an empty vocabulary."""
        if stored.startswith(b"{"):
            return cls(stored={key: b64decode(part) for key, part in json.loads(stored).items()})
        return cls({"": Vocabulary.decode(stored)} if stored else {})
