"""What an engine stores of a section, and what it gives back: ready terms, free of any database."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

Query = Sequence[tuple[str, ...]]  # each term as its spellings, one for each language's stemmer


@dataclass(frozen=True)
class Entry:
    """A section as an engine sees it: terms joined by spaces, and facets that filters match."""

    section_id: int
    title: str
    headings: str
    body: str
    facets: str = ""


def facet(kind: str, value: str) -> str:
    """One term for a version, language or tag; the empty value stands for pages that have none."""
    return f"facet{kind}" + hashlib.sha256(value.strip().lower().encode()).hexdigest()[:16]
