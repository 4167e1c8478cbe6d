"""OpenAPI 3 documents: a page for each operation and each tag, and one for the API.

Paths are those of Mintlify, the tag and then the summary: `/users/list-users`. Redoc and Swagger UI show everything on
a single page, so there the pages have addresses in it: `#tag/Users/operation/listUsers`, `#/Users/listUsers`.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from docsite.core.paths import normalize
from search.sources import Draft, ExcludedPage, Item, Page, compute_digest
from search.sources.generators import RENDERERS
from search.sources.openapi import pages, places
from search.sources.openapi.loading import MAX_BYTES
from search.sources.openapi.spec import Operation, Spec, items, mapping, text
from search.sources.request import SourceRequest
from search.sources.web.fetch import Fetcher, Limits

WHOLE = Limits(MAX_BYTES, 60.0)
OVERVIEW = "/overview"  # what the page of the API is called
MAX_PATH = 380  # characters, so that a number fits behind it
Shown = tuple[Operation, str]  # with the path of its page
_ENDINGS = (".json", ".yaml", ".yml")
_HIDDEN = ("x-internal", "x-hidden", "x-excluded")


def recognizes(request: SourceRequest) -> bool:
    """Whether the location names a document in JSON or YAML, or the request a renderer of such documents."""
    if request.is_remote:
        return urlsplit(request.location).path.lower().endswith(_ENDINGS) or request.generator in RENDERERS
    return request.file is not None and request.file.suffix.lower() in _ENDINGS


def read(request: SourceRequest) -> Iterator[Item]:
    """The pages of the document. Raises ValueError when it is none."""
    return read_file(request.file, request) if request.file else read_address(request)


def read_file(file: Path, request: SourceRequest) -> Iterator[Item]:
    """The pages of a document, and of the files beside it that it refers to. Raises ValueError when it is none."""
    try:
        spec = Spec.from_file(file)
    except ValueError as wrong:
        raise ValueError(f"{file.name} {wrong}") from None
    return _pages(spec, file.name, request.generator)


def read_address(request: SourceRequest) -> Iterator[Item]:
    """The pages of a document on the web, which stands alone. Raises ValueError when it is none."""
    name = urlsplit(request.location).path.rpartition("/")[2]
    with Fetcher(request) as fetcher:
        raw = fetcher.get(request.location, caps=WHOLE).body
    try:
        spec = Spec.from_bytes(raw)
    except ValueError as wrong:
        raise ValueError(f"{name} {wrong}") from None
    return _pages(spec, name, request.generator)


def _pages(spec: Spec, name: str, generator: str) -> Iterator[Item]:
    """A draft for each page. All pages are built again when anything in the document changes."""
    taken = {OVERVIEW: 0}
    shown: list[Shown] = []

    def draft(origin: str, path: str, make: Callable[[], Page]) -> Draft:
        return Draft(origin, path, compute_digest(spec.digest, generator, origin, path), make)

    for operation in spec.operations():
        origin = f"{name}: {operation.method} {operation.path}"
        if hidden := next((sign for sign in _HIDDEN if operation.raw.get(sign) is True), ""):
            yield ExcludedPage(origin, f"`{hidden}` is set")
            continue
        path = _free(places.path_of(operation), taken)
        shown.append((operation, path))
        yield draft(origin, path, partial(_of_operation, spec, operation, origin, path, generator))
    listed: list[tuple[str, str, str]] = []
    for tag, (about, within) in _tags(spec, shown).items():
        path = _free(places.tag_path(tag), taken)
        listed.append((tag, text(about.get("description")), _link(path)))
        yield draft(f"{name}: tag {tag}", path, partial(_of_tag, tag, about, within, path, generator))
    yield draft(name, OVERVIEW, partial(_of_api, spec, listed, name))


def _of_operation(spec: Spec, operation: Operation, origin: str, path: str, generator: str) -> Page:
    return Page(
        origin=origin,
        path=path,
        markdown=pages.operation_page(spec, operation),
        title=operation.name,
        description=pages.summary_of(operation.raw),
        tags=tuple(operation.tags),
        keywords=tuple(filter(None, [operation.id, f"{operation.method} {operation.path}", operation.path])),
        address=places.address_of(operation, generator),
    )


def _of_tag(tag: str, about: dict[str, Any], within: list[Shown], path: str, generator: str) -> Page:
    """The page of a tag. Where a site has none, its address is that of the tag's first operation."""
    first = _link(within[0][1]) if within else "/"
    return Page(
        origin=f"tag {tag}",
        path=path,
        markdown=pages.tag_page(tag, about, ((operation, _link(at)) for operation, at in within)),
        title=text(about.get("x-displayName")) or tag,
        description=pages.summary_of(about),
        tags=(tag,),
        address=places.tag_address(tag, generator) or first,
    )


def _of_api(spec: Spec, listed: list[tuple[str, str, str]], origin: str) -> Page:
    info = mapping(spec.root.get("info"))
    return Page(
        origin=origin,
        path=OVERVIEW,
        markdown=pages.api_page(spec, listed),
        title=text(info.get("title")) or "API",
        description=text(info.get("summary")) or pages.summary_of(info),
        address="/",
    )


def _tags(spec: Spec, shown: Iterable[Shown]) -> dict[str, tuple[dict[str, Any], list[Shown]]]:
    """What the document says of each tag, and its operations: first the tags that it lists, then others in use."""
    told = {text(one.get("name")): one for one in map(mapping, items(spec.root.get("tags")))}
    tags: dict[str, tuple[dict[str, Any], list[Shown]]] = {tag: (about, []) for tag, about in told.items() if tag}
    for operation, path in shown:
        for tag in operation.tags:
            tags.setdefault(tag, ({}, []))[1].append((operation, path))
    return tags


def _free(path: str, taken: dict[str, int]) -> str:
    """The path, or the path with the first free number. `taken` has the last number of each path."""
    wanted = free = normalize(quote(path or "unnamed"))[:MAX_PATH]
    while free in taken:
        taken[wanted] += 1
        free = f"{wanted}-{taken[wanted]}"
    taken[free] = 0
    return free


def _link(path: str) -> str:
    """A page's path as a link from pages beside it, and as an address below the place where the pages begin."""
    return quote(path.lstrip("/"))
