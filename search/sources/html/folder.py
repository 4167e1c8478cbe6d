"""Read a folder of built HTML: one page for each file, at the address where a server shows it."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from docsite.core.paths import normalize, within
from docsite.core.unicode.addresses import urlsplit
from search.sources import Draft, ExcludedPage, Item, Page, PageRedirect, UnreadablePage, compute_digest
from search.sources.files import MARKDOWN, list_files, quote_path, read_in_folder
from search.sources.html import read_html
from search.sources.request import SourceRequest

_ENDINGS = (".html", ".htm")
_SOURCE_ENDINGS = (*MARKDOWN, ".rst")
_FOLDERS = frozenset(("_modules", "_sources", "_static", "_images", "_downloads", "node_modules"))
# Pages that generators add: indexes, search pages, and the whole site on one page.
_GENERATED = frozenset(
    (
        *("search", "genindex", "py-modindex", "modindex", "http-routingtable", "404", "print", "print_page", "toc"),
        *("allclasses", "allclasses-index", "allclasses-frame", "allpackages-index", "overview-tree", "package-tree"),
    )
)
_REDIRECT_BYTES = 8192  # a redirect names its target within so many bytes


def recognizes(request: SourceRequest) -> bool:
    """Whether the location is a folder of built HTML, by the request's generator or by its files."""
    if not request.folder or request.manifest:
        return False
    if request.generator:
        return request.generator == "html"
    names = {name.lower() for name in list_files(request.folder, _FOLDERS)}
    sources = [name.rpartition(".")[0] for name in names if name.endswith(_SOURCE_ENDINGS)]
    # Some generators put the source of each page beside its HTML.
    alone = [name for name in sources if names.isdisjoint((f"{name}.html", f"{name}/index.html"))]
    return len(alone) * 10 <= len(sources) and any(name.endswith(_ENDINGS) for name in names)


def read(request: SourceRequest) -> Iterator[Item]:
    """The pages of all HTML files in the folder and its subfolders, except generated indexes and the like."""
    request.progress("generator: html")
    root = Path(request.location)
    for name in list_files(root, _FOLDERS):
        if name.lower().endswith(_ENDINGS) and Path(name).stem.lower() not in _GENERATED:
            yield _read(root, name, request)


def _read(root: Path, name: str, request: SourceRequest) -> Item:
    """The item of one file. Symbolic links must not leave the folder."""
    path = ""
    try:
        address = _make_address(quote_path(name))
        path = normalize(quote_path(name))
        source = read_in_folder(root, root / name)
    except ValueError as wrong:
        return UnreadablePage(name, str(wrong), path)
    bases = (base.strip("/") for base in (request.docs_url, request.path_prefix))
    full_address = "/".join(filter(None, bases)) + f"/{address}"
    if b"refresh" in source[:_REDIRECT_BYTES].lower():
        with suppress(ValueError):
            target = read_html(source, full_address).refresh
            if target and (redirect := _build_redirect(target, name, path, full_address, request)):
                return redirect
    build = partial(_build_page, source, name, path, address, full_address, request)
    return Draft(name, path, compute_digest(full_address, source), build, address)


def _make_address(name: str) -> str:
    """The address of a file, relative to the root. An index file has the address of its folder."""
    folder, _, last = name.rpartition("/")
    return (f"{folder}/" if folder else "") if last.lower() in ("index.html", "index.htm") else name


def _build_page(
    source: bytes, name: str, path: str, address: str, full_address: str, request: SourceRequest
) -> Page | UnreadablePage | ExcludedPage:
    try:
        page = read_html(source, full_address)
    except ValueError as wrong:
        return UnreadablePage(name, str(wrong), path)
    if page.noindex:
        return ExcludedPage(name, "says noindex")
    if page.canonical and not request.path_prefix and request.path_of(page.canonical) == path:
        base = urlsplit(request.docs_url).path.strip("/")  # the page says whether its address has an ending
        address = urlsplit(page.canonical).path.strip("/").removeprefix(base).lstrip("/")
        address += "/" if address and page.canonical.endswith("/") else ""
    return page.to_page(name, path, address)


def _build_redirect(
    target: str, name: str, path: str, full_address: str, request: SourceRequest
) -> PageRedirect | ExcludedPage | None:
    """The redirect to an address; None for one to the page itself."""
    if urlsplit(target).netloc != urlsplit(full_address).netloc:
        return ExcludedPage(name, "redirects to another site")
    new_path = request.path_of(target)
    if request.path_prefix:
        new_path = within(new_path, normalize(request.path_prefix))
    return PageRedirect(path, new_path) if new_path != path else None
