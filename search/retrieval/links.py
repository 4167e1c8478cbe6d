"""Make the links of a page work anywhere, because its Markdown is quoted on other sites."""

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from urllib.parse import unquote

from docsite.core.access.readers import Groups
from docsite.core.paths import normalize
from docsite.core.postgresql import primary
from docsite.core.sized_cache import SizedCache
from docsite.core.tenants.models import Project
from search.hits import Hit
from search.models import Document, Redirect
from search.retrieval import index_state
from search.staged_index import staged_index
from search.text.markdown.links import Link, links
from search.text.shared_texts import intern

MAX_PATHS = 500  # paths looked up in the index; real passages have a handful
MAX_PAGE_BYTES = 4 * 1024 * 1024  # of the pages that links led to lately, of all projects, some 8,000
_PAGE_BYTES = 500  # of one, without its path
MAX_TARGET = 2_000  # characters of a link that may lead to a page
IndexedPage = tuple[str, ...]  # path, version, language and address; empty where the index has none
IndexedPages = Mapping[str, IndexedPage]  # by the path of a link
BuildUrl = Callable[[str, str, str], str]

_ABSOLUTE = re.compile(r"https?://|mailto:", re.IGNORECASE)
# A project, the generation of its index, and the reader's groups: what decides which pages there are.
Scope = tuple[int, int, Groups]
_pages: SizedCache[tuple[Scope, str], IndexedPage] = SizedCache()
primary.forget_with(_pages.clear)
# A text without these has only links to the web, which stay as they are.
_MAY_CHANGE = re.compile(
    r"!\[|\]\(\s*+<?+(?!https?://|mailto:)|<(?!https?://|mailto:)[a-z][a-z0-9+.-]{1,31}:", re.IGNORECASE
)
_ELSEWHERE = re.compile(r"[a-zA-Z][\w+.-]*:|//")  # another scheme or host


def make_absolute(project: Project, hits: Sequence[Hit]) -> list[Hit]:
    """The hits with absolute links. A link that leads to no page of the index or the web becomes its label."""
    return rewrite(project, hits, lambda path, anchor, address: project.url_of(path, anchor, address))


def rewrite(project: Project, hits: Sequence[Hit], build_url: BuildUrl) -> list[Hit]:
    """The hits with addresses of `build_url` in links to pages, from path, anchor and the page's own address.

    A link that leads to no page of the index or the web becomes its label.
    """
    parsed = {number: tuple(links(hit.body)) for number, hit in enumerate(hits) if _MAY_CHANGE.search(hit.body)}
    paths = islice(_list_paths(project, hits, parsed), MAX_PATHS)
    pages = _find_pages(project, dict.fromkeys(paths)) if parsed else {}
    return [
        replace(hit, body=intern(_rewrite(project, hit, parsed[number], pages, build_url))) if number in parsed else hit
        for number, hit in enumerate(hits)
    ]


def _list_paths(project: Project, hits: Sequence[Hit], parsed: Mapping[int, Sequence[Link]]) -> Iterator[str]:
    """Each path at which the page of a relative link may stand, for all links in some hits."""
    for number, of_hit in parsed.items():
        for link in of_hit:
            if not link.is_image and not _ABSOLUTE.match(link.target):
                yield from find_paths(project, hits[number].path, link.target)


def _find_pages(project: Project, paths: Collection[str]) -> IndexedPages:
    """The paths that the index has, each with its page. They are remembered until the index changes."""
    if staged_index():  # a preview
        return _load_pages(project, set(paths))
    scope = project.pk, *index_state.get_scope(project)
    known = {path: page for path in paths if (page := _pages.get((scope, path))) is not None}
    if missing := [path for path in paths if path not in known]:
        loaded = _load_pages(project, set(missing))
        for path in missing:
            known[path] = loaded.get(path, ())
            _pages.put((scope, path), known[path], _PAGE_BYTES + len(path), MAX_PAGE_BYTES)
    return {path: page for path, page in known.items() if page}


def urls_of(project: Project, paths: Iterable[str]) -> dict[str, str]:
    """The public addresses of some pages, whether the index has them or not."""
    wanted = set(paths)
    pages = Document.objects.filter(project=project, path__in=wanted).exclude(address="")
    addresses = dict(pages.values_list("path", "address"))
    return {path: project.url_of(path, address=addresses.get(path, "")) for path in wanted}


def page_of(project: Project, path: str) -> str:
    """The path itself, or the path that it redirects to."""
    if Document.objects.filter(project=project, path=path).exists():
        return path
    return Redirect.objects.filter(project=project, path=path).values_list("target", flat=True).first() or path


def _load_pages(project: Project, wanted: set[str]) -> IndexedPages:
    """The wanted paths that the index has. A redirected path has the page that it redirects to."""
    columns = ("path", "version", "language", "address")
    pages = Document.objects.filter(project=project, path__in=wanted)
    known = {path: (path, *page) for path, *page in pages.values_list(*columns)}
    moved = dict(Redirect.objects.filter(project=project, path__in=wanted - known.keys()).values_list("path", "target"))
    if moved:
        pages = Document.objects.filter(project=project, path__in=moved.values())
        there = {path: (path, *page) for path, *page in pages.values_list(*columns)}
        known |= {path: there[target] for path, target in moved.items() if target in there}
    return known


def _rewrite(project: Project, hit: Hit, of_hit: Iterable[Link], known: IndexedPages, build_url: BuildUrl) -> str:
    """The body with other links. Labels stay as they are, because an image may stand in one."""
    edits = []
    for link in of_hit:
        if link.is_image or not _ABSOLUTE.match(link.target):
            url = "" if link.is_image else _url(project, hit, link.target, known, build_url)
            edits.append((link.start, link.label_start, "[" if url else ""))
            edits.append((link.label_end, link.end, f"]({url})" if url else ""))
    pieces = []
    at = 0
    for start, end, text in sorted(edits):
        pieces += [hit.body[at:start], text]
        at = end
    return "".join(pieces) + hit.body[at:]


def _url(project: Project, hit: Hit, target: str, known: IndexedPages, build_url: BuildUrl) -> str:
    """Where a relative link leads; empty when that is no page of the index."""
    paths = [path for path in find_paths(project, hit.path, target) if path in known]
    if not paths:
        return ""
    here = (hit.version or "", hit.language or "")
    # Of two pages, the one with the version and language of the hit is likelier.
    path, *_, address = known[min(paths, key=lambda path: known[path][1:3] != here)]
    return build_url(path, unquote(target.partition("#")[2]), address)


def find_paths(project: Project, page: str, target: str) -> Sequence[str]:
    """The paths that a relative link may lead to, the likeliest first.

    Links are relative to the file. `/guide` is of `guide.md` or of
    `guide/index.md`. Its path no longer shows which, so both are tried.
    """
    if not target or len(target) > MAX_TARGET or _ELSEWHERE.match(target):
        return []
    place = re.split(r"[?#]", target, maxsplit=1)[0]
    if not place:
        return [page]
    if place.startswith("/"):
        return [project.path_of(place)]
    return _relative_paths(page, place)


@lru_cache(maxsize=10_000)
def _relative_paths(page: str, place: str) -> Sequence[str]:
    folders = (posixpath.dirname(page), page)
    return tuple(dict.fromkeys(normalize(posixpath.normpath(posixpath.join(folder, place))) for folder in folders))
