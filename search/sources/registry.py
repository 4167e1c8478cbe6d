"""The readers of sources: which one reads a location, and the items that it gives."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast
from urllib.parse import urlsplit

from docsite.core.paths import normalize
from search.sources import Bad, Draft, Item, LeftOut, Moved, Page, digest_of, generators
from search.sources.request import SourceRequest, under_of

# The first module that recognizes a location reads it. They are imported when something is read: processes that serve
# do not need them, and parsers are large.
READERS = (
    "search.sources.web.llms",
    "search.sources.openapi",
    "search.sources.web.crawl",
    "search.sources.archives",
    "search.sources.sphinx.folder",
    "search.sources.html.folder",
    "search.sources.markdown.folder",
)


class Reader(Protocol):
    """What a module in `READERS` has."""

    def recognizes(self, request: SourceRequest) -> bool:
        """Whether the location, or the generator that the request names, belongs to this reader."""

    def read(self, request: SourceRequest) -> Iterator[Item]:
        """The items of the source. Raises ValueError with a sentence when it cannot be read at all."""


def reader_of(request: SourceRequest) -> Reader:
    """The reader that recognizes the location. Raises ValueError with a sentence when none does."""
    for name in READERS:
        reader = cast(Reader, import_module(name))
        if reader.recognizes(request):
            return reader
    place = Path(request.location)
    if place.is_file():
        raise ValueError(f"{place.name} is no archive, no OpenAPI document and no llms.txt")
    raise ValueError(f"{place} is neither a folder nor a file, nor an address that begins with https://")


def read(request: SourceRequest) -> Iterator[Item]:
    """The items of a source. Raises ValueError with a sentence when the location is none, or cannot be read at all."""
    generators.check(request.generator)
    request = replace(request, under=under_of(request.under))
    for item in reader_of(request).read(request):
        yield _place(item, request)


def _place(item: Item, request: SourceRequest) -> Item:
    """The item below the source's own place, with the version and the language that it lacks."""
    if isinstance(item, LeftOut) or not (request.under or request.version or request.language):
        return item
    under = request.under
    path = normalize(f"{under}/{item.path}") if under and item.path else item.path
    if isinstance(item, Moved):
        return Moved(path, normalize(f"{under}/{item.target}"))
    if isinstance(item, Bad):
        return replace(item, path=path)
    if isinstance(item, Draft):
        digest = digest_of(under, request.version, request.language, item.digest)
        return replace(item, path=path, digest=digest, make=partial(_place_later, item, request))
    address = item.address
    if under and address and not urlsplit(address).scheme:
        address = f"{under}/{address.lstrip('/')}"
    return replace(
        item,
        path=path,
        address=address,
        version=item.version or request.version,
        language=item.language or request.language,
    )


def _place_later(draft: Draft, request: SourceRequest) -> Page | Bad | LeftOut:
    made = _place(draft.make(), request)
    assert isinstance(made, Page | Bad | LeftOut)
    return made
