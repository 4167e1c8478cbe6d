"""Read a source with the first reader that recognizes its location."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from docsite.core.paths import normalize
from docsite.core.unicode.addresses import urlsplit
from search.sources import Draft, ExcludedPage, Item, Page, PageRedirect, Problem, UnreadablePage, compute_digest
from search.sources.generators import validate
from search.sources.markdown.generators import detect_site
from search.sources.request import SourceRequest, normalize_prefix
from search.sources.samples import open_first
from search.text.language import detect_page_language, is_language

# The first module that recognizes a location reads it. The modules are imported when a source is read: their parsers
# are large, and processes that only serve requests do not need them.
READERS = (
    "search.sources.web.llms",
    "search.sources.openapi",
    "search.sources.web.crawl",
    "search.sources.archives",
    "search.sources.sphinx.folder",
    "search.sources.html.folder",
    "search.sources.markdown.folder",
)

_FOLDER_CODE = re.compile(r"(?i)[a-z]{2}(?:[-_](?:hans|hant|latn|cyrl))?(?:[-_](?:[a-z]{2}|\d{3}))?")
_KINDS = {  # of sources that no generator of Markdown renders
    "search.sources.web.llms": "llms.txt",
    "search.sources.openapi": "OpenAPI",
    "search.sources.archives": "archive",
    "search.sources.sphinx.folder": "sphinx",
    "search.sources.html.folder": "html",
}


class Reader(Protocol):
    """The functions of each module in `READERS`."""

    __name__: str

    def recognizes(self, request: SourceRequest) -> bool:
        """Whether this reader reads the location, or the output of the generator that the request names."""

    def read(self, request: SourceRequest) -> Iterator[Item]:
        """The items of the source. Raises ValueError with a sentence when it cannot be read at all."""


def find_reader(request: SourceRequest) -> Reader:
    """The reader that recognizes the location. Raises ValueError with a sentence when none does."""
    for name in READERS:
        reader = cast(Reader, import_module(name))
        if reader.recognizes(request):
            return reader
    path = Path(request.location)
    if path.is_file():
        raise ValueError(f"{path.name} is no archive, no OpenAPI document and no llms.txt")
    raise ValueError(f"{path} is neither a folder nor a file, nor an address that begins with https://")


def detect_generator(request: SourceRequest) -> str:
    """The name of what renders the source: the request's generator, or what the files show.

    Empty for a crawled site, and for what no reader recognizes: `read` says why.
    """
    if request.generator:
        return request.generator
    try:
        name = find_reader(request).__name__
    except ValueError:
        return ""
    if name == "search.sources.markdown.folder":
        return detect_site(Path(request.location), request).generator
    return _KINDS.get(name, "")


def read(request: SourceRequest) -> Iterator[Item]:
    """The items of a source. Raises ValueError with a sentence when the source cannot be read at all."""
    validate(request.generator)
    request = replace(request, path_prefix=normalize_prefix(request.path_prefix))
    items = find_reader(request).read(request)
    yield from open_first((_apply_request(item, request) for item in items), request)


def _apply_request(item: Item, request: SourceRequest) -> Item:
    """The item with the request's path prefix, and with its version and language unless the item has its own."""
    if isinstance(item, ExcludedPage | Problem):
        return item
    prefix = request.path_prefix
    path = normalize(f"{prefix}/{item.path}") if prefix and item.path else item.path
    if isinstance(item, PageRedirect):
        return PageRedirect(path, normalize(f"{prefix}/{item.target}"))
    if isinstance(item, UnreadablePage):
        return replace(item, path=path)
    if isinstance(item, Draft):
        digest = compute_digest(prefix, request.version, request.language, item.digest)
        build = partial(_build_draft, item, request)
        return replace(item, path=path, digest=digest, build=build, address=_add_prefix(item.address, prefix))
    return replace(
        item,
        path=path,
        address=_add_prefix(item.address, prefix),
        version=item.version or request.version,
        language=(item.language or request.language or _find_language(item)).replace("_", "-"),
    )


def _find_language(page: Page) -> str:
    """The language that a page does not name: that of a folder such as `de`, unless its text says otherwise.

    The second folder counts only with a script or a region: `sdk/cs` is C#, `docs/pt-br` is a translation.
    """
    by_text = detect_page_language(page.markdown)
    first, second = [*page.path.split("/")[1:-1], "", ""][:2]
    codes = (first, second if len(second) > 2 else "")
    folder = next((code for code in codes if _FOLDER_CODE.fullmatch(code) and is_language(code)), "")
    return folder if folder and by_text in ("", folder[:2].lower()) else by_text


def _add_prefix(address: str, prefix: str) -> str:
    return f"{prefix}/{address.lstrip('/')}" if prefix and address and not urlsplit(address).scheme else address


def _build_draft(draft: Draft, request: SourceRequest) -> Page | UnreadablePage | ExcludedPage:
    built = _apply_request(draft.build(), request)
    assert isinstance(built, Page | UnreadablePage | ExcludedPage)
    return built
