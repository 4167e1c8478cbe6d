"""A folder of built HTML: a page for each file, at the address where a server shows it."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from docsite.core.paths import normalize, within
from search.sources import Draft, ExcludedPage, Item, Page, PageRedirect, UnreadablePage, compute_digest
from search.sources.files import MARKDOWN, list_files, quote_path, read_in_folder
from search.sources.html import read_html
from search.sources.request import SourceRequest

_ENDINGS = (".html", ".htm")
_SOURCES = (*MARKDOWN, ".rst")
_FOLDERS = frozenset(("_modules", "_sources", "_static", "_images", "_downloads", "node_modules"))
# What generators add for people: lists, searches and the whole of the site on one page.
_GENERATED = frozenset(
    (
        *("search", "genindex", "py-modindex", "modindex", "http-routingtable", "404", "print", "print_page", "toc"),
        *("allclasses", "allclasses-index", "allclasses-frame", "allpackages-index", "overview-tree", "package-tree"),
    )
)
_HEAD = 8192  # bytes in which a redirect says that it is one


def recognizes(request: SourceRequest) -> bool:
    """Whether the location is a folder of built HTML, as the request says or its files show."""
    if not request.folder or request.manifest:
        return False
    return request.generator == "html" or (not request.generator and is_html(request.folder))


def read(request: SourceRequest) -> Iterator[Item]:
    """The pages of the folder."""
    return read_folder(Path(request.location), request)


def is_html(root: Path) -> bool:
    """Whether a folder holds a site as it was built: HTML, and nothing it could have been built from."""
    names = [name.lower() for name in list_files(root, _FOLDERS)]
    return any(name.endswith(_ENDINGS) for name in names) and not any(name.endswith(_SOURCES) for name in names)


def read_folder(root: Path, request: SourceRequest) -> Iterator[Item]:
    """Every HTML file below a folder that a reader would read."""
    for name in list_files(root, _FOLDERS):
        if name.lower().endswith(_ENDINGS) and Path(name).stem.lower() not in _GENERATED:
            yield _read(root, name, request)


def _read(root: Path, name: str, request: SourceRequest) -> Item:
    """One file. A link that leads out of the folder is not followed."""
    path = ""
    try:
        address = _address(quote_path(name))
        path = normalize(quote_path(name))
        source = read_in_folder(root, root / name)
    except ValueError as wrong:
        return UnreadablePage(name, str(wrong), path)
    shown_at = (
        "/".join(part.strip("/") for part in (request.docs_url, request.path_prefix) if part.strip("/")) + f"/{address}"
    )
    if b"refresh" in source[:_HEAD].lower() and (redirect := _find_redirect(source, name, path, shown_at, request)):
        return redirect
    return Draft(name, path, compute_digest(shown_at, source), partial(_page, source, name, path, address, shown_at))


def _address(name: str) -> str:
    """A file's place as servers show it: an index is its folder."""
    folder, _, last = name.rpartition("/")
    return (f"{folder}/" if folder else "") if last.lower() in ("index.html", "index.htm") else name


def _page(source: bytes, name: str, path: str, address: str, shown_at: str) -> Page | UnreadablePage | ExcludedPage:
    try:
        page = read_html(source, shown_at)
    except ValueError as wrong:
        return UnreadablePage(name, str(wrong), path)
    if page.noindex:
        return ExcludedPage(name, "says noindex")
    return page.to_page(name, path, address)


def _find_redirect(
    source: bytes, name: str, path: str, shown_at: str, request: SourceRequest
) -> PageRedirect | ExcludedPage | None:
    """The redirect, if the page is only a redirect."""
    try:
        target = read_html(source, shown_at).refresh
    except ValueError:
        return None
    if not target:
        return None
    if urlsplit(target).netloc != urlsplit(shown_at).netloc:
        return ExcludedPage(name, "redirects to another site")
    new_path = request.path_of(target)
    if request.path_prefix:
        new_path = within(new_path, normalize(request.path_prefix))
    return PageRedirect(path, new_path) if new_path != path else None
