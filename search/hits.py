"""The filter and the results of a search. No database."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Filters:
    """Narrows a search; None narrows nothing. Values compare without case.

    `version="latest"` means the newest version of the site. A page without a version or language passes its filter,
    one without tags does not.
    """

    version: str | None = None
    language: str | None = None
    tag: str | None = None


@dataclass(frozen=True)
class SectionMatch:
    """Another section of a hit's page that matches the query."""

    section: str
    url: str
    score: float


@dataclass(frozen=True)
class NextSection:
    """A section that follows a hit on its page. `link` is its path and anchor below the docs URL."""

    label: str
    link: str


@dataclass(frozen=True)
class Hit:
    """One section that answers a query.

    `score` is in 0..1 and comparable between queries. `body` is the section's
    Markdown, `excerpt` is plain text around the words that matched, and `highlights`
    are the positions of these words in it ([start, end) in code points). Passages have no
    highlights, and of those that one search finds only the first of each page has an
    excerpt. `url` is absolute and ends in the section's anchor; `link` is the same, relative to the docs URL.
    `address` is the page's own address, if it has one. `others` are further sections
    of the page that match. `digest` is that of the section, if it is known: a section with
    another text or other headings has another one.

    Only passages have the last three fields: `text` is the section as a reader sees
    it, one line for each block; `above` are the headings and texts before it on the page, with
    its own heading; `following` are the next sections.
    """

    path: str
    url: str
    title: str
    section: str
    breadcrumb: tuple[str, ...]
    body: str
    excerpt: str
    score: float
    anchor: str = ""
    digest: str = ""
    link: str = ""
    address: str = ""
    version: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = ()
    highlights: tuple[tuple[int, int], ...] = ()
    others: tuple[SectionMatch, ...] = ()
    text: str = ""
    above: tuple[str, ...] = ()
    following: tuple[NextSection, ...] = ()


@dataclass(frozen=True)
class PageText:
    """The sections of a page, in its order, and the headings of those that did not fit."""

    path: str
    sections: tuple[Hit, ...]
    further_headings: tuple[str, ...] = ()
