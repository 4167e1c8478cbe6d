"""The filter and the results of a search. No database."""

from collections.abc import Hashable, Sequence
from dataclasses import FrozenInstanceError, dataclass, fields
from typing import Any
from weakref import WeakValueDictionary


@dataclass(frozen=True)
class Filters:
    """Narrows a search. Values compare without case; `version="latest"` means the newest version of the site."""

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


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class SharedText:
    """A text in UTF-8 that many hits hold, so that it is in memory once."""

    data: bytes


@dataclass(frozen=True, slots=True)
class TextStart:
    """The first bytes of a text that hits share. `str()` decodes them."""

    whole: SharedText
    size: int

    def __str__(self) -> str:
        return self.whole.data[: self.size].decode()


@dataclass(frozen=True)
class Hit:
    """One section that answers a query.

    `score` is in 0..1 and comparable between queries. `body` is the section's
    Markdown, `excerpt` is plain text around the words that matched, and `highlights`
    are the positions of these words in it ([start, end) in code points). `url` is absolute
    and ends in the section's anchor; `link` is the same, relative to the docs URL.
    `address` is the page's own address, if it has one. `others` are further sections
    of the page that match. `digest` is that of the section, if it is known: a section with
    another text or other headings has another one.

    Only passages have the last three fields: `text` is the section as a reader sees
    it, one line for each block; `above` is everything before it on the page, with the
    section's own heading; `following` are the next sections.
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
    above: "str | TextStart" = ""
    following: tuple[NextSection, ...] = ()


@dataclass(frozen=True)
class PageText:
    """The sections of a page, in its order, and the headings of those that did not fit."""

    path: str
    sections: tuple[Hit, ...]
    further_headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, weakref_slot=True)
class _Section:
    """What all hits of a section have, by the names of `_OF_SECTION`. Long texts are `TextStart`s."""

    values: tuple[Any, ...]


_texts: WeakValueDictionary[Hashable, SharedText] = WeakValueDictionary()  # by hash, or by the address of a page
_sections: WeakValueDictionary[int, _Section] = WeakValueDictionary()  # by hash


_OF_SECTION: list[str] = []  # names of fields


class _OfSection:
    """A field of a hit whose value its section has."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._position = len(_OF_SECTION)
        self._is_text = name in ("body", "text")
        _OF_SECTION.append(name)

    def __get__(self, hit: Any, owner: type) -> Any:
        value = vars(hit)["_section"].values[self._position]
        return str(value) if self._is_text else value

    def __set__(self, hit: Any, value: Any) -> None:
        raise FrozenInstanceError


class SharedHit(Hit):
    """A hit that stays in memory for long: what it has in common with other hits of its section is there once."""

    path = _OfSection()
    url = _OfSection()
    title = _OfSection()
    section = _OfSection()
    breadcrumb = _OfSection()
    body = _OfSection()
    anchor = _OfSection()
    digest = _OfSection()
    link = _OfSection()
    address = _OfSection()
    version = _OfSection()
    language = _OfSection()
    tags = _OfSection()
    text = _OfSection()
    above = _OfSection()
    following = _OfSection()

    def __init__(self, **values: Any) -> None:
        for name in ("body", "text"):
            if isinstance(values[name], str):
                values[name] = _share(values[name])
        section = _Section(tuple(map(values.pop, _OF_SECTION)))
        key = hash(section)
        found = _sections.get(key)
        if found != section:
            found = _sections[key] = section
        vars(self).update(values, _section=found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hit) and _values(self) == _values(other)

    __hash__ = Hit.__hash__


def share_texts(hits: Sequence[Hit]) -> list[Hit]:
    """Copies of the hits without highlights, with each text once in memory, also across answers.

    Hits of one page share the text above them.
    """
    above = [str(hit.above).encode() for hit in hits]
    longest: dict[str, bytes] = {}
    for hit, text in zip(hits, above, strict=True):
        longest[hit.path] = max(longest.get(hit.path, b""), text, key=len)
    pages = {hit.path: _share_page(hit, longest[hit.path]) for hit in hits}
    return [
        SharedHit(**_values(hit) | {"above": _find_start(pages[hit.path], text), "highlights": ()})
        for hit, text in zip(hits, above, strict=True)
    ]


def _values(hit: Hit) -> dict[str, Any]:
    if type(hit) is Hit:  # as all are that a search has just found
        return vars(hit)
    return {field.name: getattr(hit, field.name) for field in fields(Hit)}


def _share(text: str) -> TextStart:
    """The text, in the memory of an equal one if some hit has it."""
    data = text.encode()
    found = _texts.get(hash(data))
    if found is None or found.data != data:
        found = _texts[hash(data)] = SharedText(data)
    return TextStart(found, len(data))


def _share_page(hit: Hit, above: bytes) -> SharedText:
    """The text above the last hit of a page, or a longer one that begins with it, if some hit has it."""
    page = hit.url.partition("#")[0]
    found = _texts.get(page)
    if found is None or not found.data.startswith(above):
        found = _texts[page] = SharedText(above)
    return found


def _find_start(page: SharedText, above: bytes) -> TextStart:
    return TextStart(page if page.data.startswith(above) else SharedText(above), len(above))
