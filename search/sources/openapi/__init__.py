"""Read an OpenAPI 3 document: one page for each operation, one for each tag, and one for the API.

A page's path is the one that Mintlify gives it, the tag and then the summary: `/users/list-users`. Redoc and Swagger UI
show everything on a single page. There an address is a fragment: `#tag/Users/operation/listUsers`, `#/Users/listUsers`.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from docsite.core.paths import normalize
from docsite.core.unicode.addresses import urlsplit
from search.sources import Draft, ExcludedPage, Item, Page, Problem, compute_digest
from search.sources.generators import RENDERERS
from search.sources.openapi import addresses, pages
from search.sources.openapi.loading import MAX_BYTES
from search.sources.openapi.spec import Operation, Spec, as_list, as_mapping, as_text
from search.sources.request import SourceRequest
from search.sources.web.fetch import Fetcher, Limits

DOCUMENT_LIMITS = Limits(MAX_BYTES, 60.0)
OVERVIEW = "/overview"  # path of the API's page
MAX_PATH = 380  # characters; leaves room for a number
OperationPath = tuple[Operation, str]  # an operation and the path of its page
_ENDINGS = (".json", ".yaml", ".yml")
_HIDDEN = ("x-internal", "x-hidden", "x-excluded")


def recognizes(request: SourceRequest) -> bool:
    """Whether the location names a JSON or YAML file, or the request names a renderer of OpenAPI documents."""
    if request.is_remote:
        return urlsplit(request.location).path.lower().endswith(_ENDINGS) or request.generator in RENDERERS
    return request.file is not None and request.file.suffix.lower() in _ENDINGS


def read(request: SourceRequest) -> Iterator[Item]:
    """The pages of the document. On disk it may refer to other files in its folder.

    Raises ValueError when it is no OpenAPI 3 document.
    """
    name = urlsplit(request.location).path.rpartition("/")[2]
    raw = b""
    if request.is_remote:
        with Fetcher(request) as fetcher:
            raw = fetcher.get(request.location, limits=DOCUMENT_LIMITS).body
    try:
        spec = Spec.from_bytes(raw) if request.is_remote else Spec.from_file(Path(request.location))
    except ValueError as wrong:
        raise ValueError(f"{name} {wrong}") from None
    return islice(_build_drafts(spec, name, request.generator), request.max_pages)


def _build_drafts(spec: Spec, name: str, generator: str) -> Iterator[Item]:
    """A draft for each page. Each digest covers the whole document, so any change builds all pages again."""
    last_numbers = {OVERVIEW: 0}
    operations: list[OperationPath] = []

    def draft(origin: str, path: str, build: Callable[[], Page]) -> Draft:
        return Draft(origin, path, compute_digest(spec.digest, generator, origin, path), build)

    for operation in spec.operations():
        origin = f"{name}: {operation.method} {operation.path}"
        if hidden := next((field for field in _HIDDEN if operation.raw.get(field) is True), ""):
            yield ExcludedPage(origin, f"`{hidden}` is set")
            continue
        path = _make_unique_path(addresses.make_operation_path(operation), last_numbers)
        operations.append((operation, path))
        yield draft(origin, path, partial(_build_operation_page, spec, operation, origin, path, generator))
    tag_links: list[tuple[str, str, str]] = []
    for tag, (tag_object, tag_operations) in _group_by_tag(spec, operations).items():
        path = _make_unique_path(addresses.make_file_name(tag), last_numbers)
        tag_links.append((tag, as_text(tag_object.get("description")), _quote_link(path)))
        yield draft(
            f"{name}: tag {tag}", path, partial(_build_tag_page, tag, tag_object, tag_operations, path, generator)
        )
    yield draft(name, OVERVIEW, partial(_build_api_page, spec, tag_links, name))


def _build_operation_page(spec: Spec, operation: Operation, origin: str, path: str, generator: str) -> Page:
    spec.missing.clear()
    bases = [urlsplit(server).path for server in spec.list_servers(operation)]
    full_paths = dict.fromkeys(f"{operation.method} {base.rstrip('/')}{operation.path}" for base in ["", *bases])
    return Page(
        origin=origin,
        path=path,
        markdown=pages.render_operation_page(spec, operation),
        title=operation.name,
        description=pages.extract_summary(operation.raw),
        tags=tuple(operation.tags),
        keywords=tuple(filter(None, [operation.id, *full_paths, operation.path])),
        address=addresses.make_operation_address(operation, generator),
        problems=tuple(Problem("reference", reference) for reference in (*operation.missing, *spec.missing)),
    )


def _build_tag_page(
    tag: str, tag_object: dict[str, Any], operations: list[OperationPath], path: str, generator: str
) -> Page:
    """The page of a tag. A site without tag pages gets the address of the tag's first operation."""
    first = _quote_link(operations[0][1]) if operations else "/"
    return Page(
        origin=f"tag {tag}",
        path=path,
        markdown=pages.render_tag_page(tag, tag_object, ((operation, _quote_link(at)) for operation, at in operations)),
        title=as_text(tag_object.get("x-displayName")) or tag,
        description=pages.extract_summary(tag_object),
        tags=(tag,),
        address=addresses.make_tag_address(tag, generator) or first,
    )


def _build_api_page(spec: Spec, tag_links: list[tuple[str, str, str]], origin: str) -> Page:
    info = as_mapping(spec.root.get("info"))
    return Page(
        origin=origin,
        path=OVERVIEW,
        markdown=pages.render_api_page(spec, tag_links),
        title=as_text(info.get("title")) or "API",
        description=as_text(info.get("summary")) or pages.extract_summary(info),
        address="/",
    )


def _group_by_tag(
    spec: Spec, operations: Iterable[OperationPath]
) -> dict[str, tuple[dict[str, Any], list[OperationPath]]]:
    """The tag object and the operations of each tag: first the tags that the document lists, then other used tags."""
    listed_tags = {as_text(one.get("name")): one for one in map(as_mapping, as_list(spec.root.get("tags")))}
    tags: dict[str, tuple[dict[str, Any], list[OperationPath]]] = {
        tag: (tag_object, []) for tag, tag_object in listed_tags.items() if tag
    }
    for operation, path in operations:
        for tag in operation.tags:
            tags.setdefault(tag, ({}, []))[1].append((operation, path))
    return tags


def _make_unique_path(path: str, last_numbers: dict[str, int]) -> str:
    """The path, with a number if it is taken. `last_numbers` has each taken path with its last number."""
    base = path = normalize(quote(path or "unnamed"))[:MAX_PATH]
    while path in last_numbers:
        last_numbers[base] += 1
        path = f"{base}-{last_numbers[base]}"
    last_numbers[path] = 0
    return path


def _quote_link(path: str) -> str:
    """Percent-encode a page's path as a link relative to the path prefix of the source."""
    return quote(path.lstrip("/"))
