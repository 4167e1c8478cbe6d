"""A page's links as links that work anywhere: its Markdown is quoted on other sites."""

import posixpath
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

from markdown_it.common.utils import unescapeAll

from docsite.core.paths import normalize
from docsite.core.tenants.models import Project
from search.hits import Hit
from search.models import Document, Redirect
from search.text.markup import Fence, fence_of

MOST_PATHS = 500  # that are looked for in the index; passages that people wrote have a handful
Known = Mapping[str, tuple[str, ...]]  # a path of the index: that of its page, with version, language and address

_LINKED = re.compile(r"\]\(|<[a-zA-Z]")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_APART = re.compile(r"[\s>]*(?:\||#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s)")  # begins a row, a heading or an item
_TICKS = re.compile("`+")
_MARK = re.compile(
    r"\\[!-/:-@\[-`{-~]"  # an escaped character
    r"|(?P<ticks>`+)"
    r"|<(?P<address>[a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*)>"
    r"|(?P<opens>!?\[)"
    r"|\](?P<target>\(\s*+(?:<(?P<angled>[^<>\n]*)>|(?P<plain>(?:\\.|[^\\()\s<>]|\((?:\\.|[^\\()\s<>])*+\))*+))"
    r"(?:\s++(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*+\))?"
)
_ABSOLUTE = re.compile(r"https?://|mailto:", re.IGNORECASE)
_ELSEWHERE = re.compile(r"[a-zA-Z][\w+.-]*:|//")  # another scheme or host


class Link(NamedTuple):
    """A link or an image at `source[start:end]`, whose label is at `source[label_start:label_end]`."""

    start: int
    label_start: int
    label_end: int
    end: int
    target: str
    is_image: bool = False


def absolute(project: Project, hits: Sequence[Hit]) -> list[Hit]:
    """The hits with bodies whose links lead to the web or to pages of the index; other links become their labels."""
    found = [list(links(hit.body)) for hit in hits]
    paths = (
        path
        for hit, of_hit in zip(hits, found, strict=True)
        for link in of_hit
        if not link.is_image and not _ABSOLUTE.match(link.target)
        for path in _paths(project, hit.path, link.target)
    )
    wanted = set(islice(paths, MOST_PATHS))
    known = _known(project, wanted) if wanted else {}
    return [
        replace(hit, body=_rewritten(project, hit, of_hit, known)) if of_hit else hit
        for hit, of_hit in zip(hits, found, strict=True)
    ]


def urls_of(project: Project, paths: Iterable[str]) -> dict[str, str]:
    """The public addresses of some pages, whether the index has them or not."""
    wanted = set(paths)
    pages = Document.objects.filter(project=project, path__in=wanted).exclude(address="")
    addresses = dict(pages.values_list("path", "address"))
    return {path: project.url_of(path, address=addresses.get(path, "")) for path in wanted}


def page_of(project: Project, path: str) -> str:
    """The path itself, or that of the page which it was moved to."""
    if Document.objects.filter(project=project, path=path).exists():
        return path
    return Redirect.objects.filter(project=project, path=path).values_list("target", flat=True).first() or path


def links(source: str) -> Iterator[Link]:
    """The links, images and addresses in some Markdown outside code."""
    if _LINKED.search(source):
        for start, end in _prose(source):
            yield from _links_within(source, start, end)


def _known(project: Project, wanted: set[str]) -> Known:
    """Those of the paths that are pages, or were one: a path that was moved stands for the page that it is now."""
    columns = ("path", "version", "language", "address")
    pages = Document.objects.filter(project=project, path__in=wanted)
    known = {path: (path, *page) for path, *page in pages.values_list(*columns)}
    moved = dict(Redirect.objects.filter(project=project, path__in=wanted - known.keys()).values_list("path", "target"))
    if moved:
        pages = Document.objects.filter(project=project, path__in=moved.values())
        there = {path: (path, *page) for path, *page in pages.values_list(*columns)}
        known |= {path: there[target] for path, target in moved.items() if target in there}
    return known


def _rewritten(project: Project, hit: Hit, of_hit: Iterable[Link], known: Known) -> str:
    """The body with each link as it should be. Labels stay as they are: an image may stand in one."""
    edits = []
    for link in of_hit:
        if link.is_image or not _ABSOLUTE.match(link.target):
            url = "" if link.is_image else _url(project, hit, link.target, known)
            edits.append((link.start, link.label_start, "[" if url else ""))
            edits.append((link.label_end, link.end, f"]({url})" if url else ""))
    pieces = []
    at = 0
    for start, end, text in sorted(edits):
        pieces += [hit.body[at:start], text]
        at = end
    return "".join(pieces) + hit.body[at:]


def _url(project: Project, hit: Hit, target: str, known: Known) -> str:
    """Where a relative link leads; empty when that is no page of the index."""
    paths = [path for path in _paths(project, hit.path, target) if path in known]
    if not paths:
        return ""
    here = (hit.version or "", hit.language or "")
    # A page of its own kind is the likelier one of two.
    path, *_, address = known[min(paths, key=lambda path: known[path][1:3] != here)]
    return project.url_of(path, unquote(target.partition("#")[2]), address)


def _paths(project: Project, page: str, target: str) -> list[str]:
    """The pages that a relative link may mean, the likeliest first.

    Links are relative to the file. `/guide` is of `guide.md` or of
    `guide/index.md`, which its path no longer tells, so both are tried.
    """
    if not target or _ELSEWHERE.match(target):
        return []
    place = re.split(r"[?#]", target, maxsplit=1)[0]
    if not place:
        return [page]
    if place.startswith("/"):
        return [project.path_of(place)]
    folders = (posixpath.dirname(page), page)
    return list(dict.fromkeys(normalize(posixpath.normpath(posixpath.join(folder, place))) for folder in folders))


def _prose(source: str) -> Iterator[tuple[int, int]]:
    """Where text stands that is no code, in pieces that no link reaches over. What is code is as `clean` sees it."""
    fence: Fence | None = None
    in_list = False
    start = -1  # of the piece, while one is open
    at = 0
    for line in source.split("\n"):
        if fence and not fence.goes_on(line):
            fence = None
        opened = None if fence else fence_of(line)
        indented = start < 0 and not in_list and line.startswith("    ")
        is_text = bool(line.strip()) and not (fence or opened or indented)
        if start >= 0 and (not is_text or _APART.match(line)):
            yield start, at
            start = -1
        if is_text:
            start = at if start < 0 else start
            in_list = bool(_ITEM.match(line)) or (in_list and line.startswith(" "))
        if opened or (fence and fence.closes(line)):
            fence = opened
        at += len(line) + 1
    if start >= 0:
        yield start, len(source)


def _links_within(source: str, start: int, end: int) -> Iterator[Link]:
    """The links of one piece, in one pass: brackets are put on a stack, code spans are passed over."""
    runs: defaultdict[int, list[int]] = defaultdict(list)  # where backticks stand, by how many there are
    opened: list[re.Match[str]] = []
    around = 0  # how many of these stand around a link already, so that they open no other
    at = start
    while mark := _MARK.search(source, at, end):
        at = mark.end()
        if ticks := mark["ticks"]:
            if not runs:
                for run in _TICKS.finditer(source, mark.start(), end):
                    runs[len(run[0])].append(run.start())
            alike = runs[len(ticks)]
            closing = bisect_left(alike, at)
            at = alike[closing] + len(ticks) if closing < len(alike) else at
        elif mark["address"]:
            yield Link(mark.start(), mark.start() + 1, at - 1, at, mark["address"])
        elif mark["opens"]:
            opened.append(mark)
        elif mark[0][0] == "]":
            first = opened.pop() if opened else None
            is_image = first is not None and first[0] == "!["
            if first and mark["target"] and (is_image or len(opened) >= around):
                target = unescapeAll(mark["angled"] or mark["plain"] or "")
                yield Link(first.start(), first.end(), mark.start(), at, target, is_image)
                around = around if is_image else len(opened)
            else:
                at = mark.start() + 1  # what stands in the parentheses is text
            around = min(around, len(opened))
