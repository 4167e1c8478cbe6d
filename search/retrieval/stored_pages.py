"""Sections with their pages: single ones, or those of whole pages for what stands above, below and around passages."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import Any, NamedTuple

import msgspec
from django.db import connection

from docsite.core import sql
from docsite.core.tenants.models import Project
from search.hits import Hit, NextSection, SectionMatch
from search.retrieval.excerpts import Highlighters, build_excerpt
from search.text.markdown.cutting import cut_markdown
from search.text.shared_texts import intern

MAX_BODY = 20_000  # characters of a passage; only code and data are longer
MAX_ABOVE = 250_000  # characters of a page that are loaded above its passages
BELOW = 3  # sections that are loaded below a passage

_COLUMNS = (
    "section.id, position, heading, anchor, text, trail, body, section.digest, "
    "path, title, description, version, language, address, tags"
)
_ROWS_OF_A_FETCH = 100
Place = tuple[int, int]  # the id of a page, and the position of a section on it


class StoredSection(NamedTuple):
    """A section of a page. Only passages and the sections around them have `trail` and `body`."""

    heading: str
    anchor: str
    text: str
    trail: Sequence[str] = ()
    body: str = ""
    digest: str = ""


@dataclass(frozen=True)
class StoredPage:
    """A page with its sections by position, in their order. Of a huge page, only the nearest part is there."""

    project: Project
    path: str
    title: str
    description: str
    version: str
    language: str
    address: str
    tags: Sequence[str]
    sections: Mapping[int, StoredSection] = field(default_factory=dict)

    def build_excerpt(self, text: str, highlighters: Highlighters) -> tuple[str, tuple[tuple[int, int], ...]]:
        """The excerpt of a section's text, and its matches, as in `search.retrieval.excerpts`."""
        return build_excerpt(text or self.description or self.title, highlighters[self.language or "en"])

    def build_hit(
        self,
        section: StoredSection,
        score: float,
        excerpt: str = "",
        others: Iterable[SectionMatch] = (),
        **fields: Any,
    ) -> Hit:
        """A section of the page as a hit. `others` are sections of the page that match, too."""
        url = self.project.url_of(self.path, section.anchor, self.address)
        link = self.project.shorten(url)
        return Hit(
            path=self.path,
            url=url,
            title=self.title,
            section=section.heading or self.title,
            breadcrumb=(self.title, *section.trail),
            body=section.body,
            excerpt=excerpt,
            score=score,
            anchor=section.anchor,
            digest=section.digest,
            link=link,
            address=self.address,
            version=self.version or None,
            language=self.language or None,
            tags=tuple(self.tags),
            others=tuple(other for other in others if other.url != url),
            **fields,
        )

    def build_passage(self, position: int, score: float, **fields: Any) -> Hit:
        """The section at a position as a hit, with its text and what stands above it. A huge section is cut."""
        section = self.sections[position]
        if len(section.body) > MAX_BODY:
            body = intern(cut_markdown(section.body, MAX_BODY))
            section = section._replace(body=body, text=intern(section.text[:MAX_BODY]))
        return self.build_hit(section, score, text=section.text, above=self.list_above(position), **fields)

    def list_above(self, wanted: int) -> tuple[str, ...]:
        """All headings and texts above the section at a position, with its own heading, each heading once."""
        texts, ends = self._running_text
        return tuple(texts[: ends[wanted]])

    @cached_property
    def _running_text(self) -> tuple[Sequence[str], Mapping[int, int]]:
        """The headings and texts of the page in their order, and by position how many stand above a section's text."""
        texts: list[str] = []
        ends: dict[int, int] = {}
        before = ""  # anchor of the section above; the parts of a long one share it
        for position, section in self.sections.items():
            if section.heading and section.anchor != before:
                texts.append(section.heading)
            ends[position] = len(texts)
            texts.append(section.text)
            before = section.anchor
        return texts, ends

    def list_following(self, wanted: int) -> tuple[NextSection, ...]:
        """The headings of the next sections below the one at a position."""
        own = self.sections[wanted].anchor
        following = (
            section
            for position, section in self.sections.items()
            if position > wanted and section.heading and section.anchor != own
        )
        return tuple(
            NextSection(section.heading, self.project.link_of(self.path, section.anchor, self.address))
            for section in islice(following, BELOW)
        )


def load_sections(project: Project, ids: Sequence[int]) -> dict[int, tuple[StoredPage, StoredSection]]:
    """Some sections by id, as far as they are there, each with its page. The page has no other sections."""
    found = {}
    for pk, position, heading, anchor, text, trail, body, digest, *row, tags in read_sections(_COLUMNS, ids):
        section = StoredSection(heading, anchor, text, msgspec.json.decode(trail), body, digest)
        path, title, description, version, language, address = row
        facets = version, language, address, msgspec.json.decode(tags)
        found[pk] = StoredPage(project, path, title, description, *facets, {position: section}), section
    return found


def read_sections(columns: str, ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """Columns of some sections and their pages. The ORM would take seven times as long, and every search runs this."""
    if not ids:
        return []
    joined = "search_section section JOIN search_document document ON document_id = document.id"
    marks = ", ".join(["%s"] * len(ids))
    return sql.fetch_all(f"SELECT {columns} FROM {joined} WHERE section.id IN ({marks})", ids)


def load_pages(project: Project, passages: Sequence[Place], around: Sequence[Place] = ()) -> Mapping[int, StoredPage]:
    """The pages of some passages, by id. The passages and the sections `around` them have bodies."""
    last: dict[int, int] = {}
    for page, position in passages:
        last[page] = max(position, last.get(page, 0))
    if not last:
        return {}
    sections: dict[int, list[tuple[int, StoredSection]]] = {page: [] for page in last}
    left = dict.fromkeys(last, MAX_ABOVE)
    for page, position, heading, anchor, text, trail, digest, body in _stream_sections(last, [*passages, *around]):
        if position <= last[page]:
            left[page] -= len(text)
        if body is not None:
            fields = (intern(heading), anchor, intern(text), msgspec.json.decode(trail), intern(body), digest)
            sections[page].append((position, StoredSection(*fields)))
        elif left[page] >= 0:
            sections[page].append((position, StoredSection(intern(heading), anchor, intern(text))))
    return {page: StoredPage(project, *row, dict(reversed(sections[page]))) for page, row in _read_pages(last).items()}


def _read_pages(ids: Collection[int]) -> dict[int, tuple[str, str, str, str, str, str, Sequence[str]]]:
    # Every question runs this query and that of `_stream_sections`, and the ORM would take much longer.
    columns = "id, path, title, description, version, language, address, tags"
    marks = ", ".join("%s" for _ in ids)
    rows = sql.fetch_all(f"SELECT {columns} FROM search_document WHERE id IN ({marks})", [*ids])
    return {pk: (*row, msgspec.json.decode(tags)) for pk, *row, tags in rows}


def _stream_sections(last: Mapping[int, int], with_body: Collection[Place]) -> Iterator[tuple[Any, ...]]:
    """The sections of each page from a little below its last passage upwards, streamed: a page may be huge."""
    pages = " OR ".join("document_id = %s AND position <= %s" for _ in last)
    places = ", ".join("(%s, %s)" for _ in with_body)
    values = [*chain.from_iterable(with_body), *chain.from_iterable((page, to + BELOW) for page, to in last.items())]
    with connection.chunked_cursor() as cursor:
        cursor.execute(
            "SELECT document_id, position, heading, anchor, text, trail, digest, "
            f"CASE WHEN (document_id, position) IN (VALUES {places}) THEN body END "
            f"FROM search_section WHERE {pages} ORDER BY position DESC",
            values,
        )
        while rows := cursor.fetchmany(_ROWS_OF_A_FETCH):
            yield from rows
