"""What a search takes and gives, free of any database."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Filters:
    """Narrows a search. Values compare without case; `version="latest"` means the newest there is."""

    version: str | None = None
    language: str | None = None
    tag: str | None = None


@dataclass(frozen=True)
class Other:
    """Another section of a page that was found."""

    section: str
    url: str
    score: float


@dataclass(frozen=True)
class Place:
    """A section to read on at. `link` leads there from the docs URL on."""

    label: str
    link: str


@dataclass(frozen=True)
class Hit:
    """One section that answers a query.

    `score` is in 0..1 and comparable between queries. `body` is the section's
    Markdown, `excerpt` plain text around the words that matched, and `highlights`
    says where they stand in it ([start, end) in code points). `url` is absolute
    and ends in the section's anchor; `link` is the same from the docs URL on, and
    `address` the page's own, if it has one. Passages also have `text`, what a reader
    sees of the section, a line for each block, `above`, the same of what stands
    before it on the page with its own heading, and `following`, the next sections of
    the page.
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
    link: str = ""
    address: str = ""
    version: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = ()
    highlights: tuple[tuple[int, int], ...] = ()
    others: tuple[Other, ...] = ()
    text: str = ""
    above: str = ""
    following: tuple[Place, ...] = ()
