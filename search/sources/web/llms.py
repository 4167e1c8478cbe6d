"""Files for agents (llmstxt.org): `llms.txt` lists a site's pages, `llms-full.txt` holds them."""

import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from docsite.core.paths import normalize
from search.sources import Bad, Draft, Item, LeftOut, Moved, Page, digest_of
from search.sources.request import SourceRequest
from search.sources.web import llms_full, robots
from search.sources.web.addresses import absolute
from search.sources.web.crawl import AT_ONCE, MAX_PAGES, MAX_SECONDS
from search.sources.web.fetch import LARGE, PAGE, Fetcher, printable, site_of
from search.sources.web.markdown_page import markdown_page, place_of
from search.sources.web.visits import HTML, MARKDOWN, Visitor
from search.text.markdown.links import links
from search.text.markdown.plain_text import anchor_and_heading

_NAMES = ("llms.txt", "llms-full.txt")
_AGAIN = re.compile(r"/llms(?:-\w+)*\.txt$")


def recognizes(request: SourceRequest) -> bool:
    """Whether the location is such a file, at an address or on disk."""
    if request.is_remote:
        return urlsplit(request.location).path.lower().endswith(tuple(f"/{name}" for name in _NAMES))
    return request.file is not None and request.file.name.lower() in _NAMES


def read(request: SourceRequest) -> Iterator[Item]:
    """The pages that the file holds or links to. Raises ValueError when it cannot be read."""
    return read_file(request.file, request) if request.file else read_address(request)


def read_address(request: SourceRequest) -> Iterator[Item]:
    """The pages of an `llms-full.txt`, or those that an `llms.txt` links to. Raises ValueError when it is not there."""
    is_full = _is_full(urlsplit(request.location).path)
    with Fetcher(request) as fetcher:
        answer = fetcher.get(request.location, caps=LARGE if is_full else PAGE)
        if answer.content_type in HTML:  # as sites answer that have the same page for all they do not know
            raise ValueError(f"{printable(request.location)} is a page in HTML, so the site has no such file.")
        if is_full:
            yield from _pages_in(answer.body, answer.url, request)
        else:
            yield from _pages_linked(answer.body, answer.url, request, fetcher)


def read_file(file: Path, request: SourceRequest) -> Iterator[Item]:
    """The pages of a copy on disk. Its links are resolved against the docs URL and fetched. Raises ValueError."""
    is_full = _is_full(file.name)
    most = LARGE.bytes if is_full else PAGE.bytes
    if file.stat().st_size > most:
        raise ValueError(f"{file.name} is larger than {most // 1024 // 1024} MiB")
    if is_full:
        yield from _pages_in(file.read_bytes(), request.docs_url, request)
    else:
        with Fetcher(request) as fetcher:
            yield from _pages_linked(file.read_bytes(), request.docs_url, request, fetcher)


def _is_full(name: str) -> bool:
    return name.lower().endswith("llms-full.txt")


def _pages_in(source: bytes, base: str, request: SourceRequest) -> Iterator[Item]:
    """The pages of a whole site in one file. A page without an address gets a path made from its title."""
    seen: dict[str, int] = {}
    for count, piece in enumerate(llms_full.pieces(source), 1):
        if count > MAX_PAGES:
            yield Bad(printable(request.location), f"has more than {MAX_PAGES:,} pages; the rest is left out")
            return
        address = place_of(absolute(piece.address, base)) if piece.address else ""
        if address:
            origin, path = address, request.path_of(address)
        else:
            path = normalize(anchor_and_heading(piece.title, seen)[0] or "page")
            origin = f"{piece.title or 'a page without a title'} (page {count})"
        if len(piece.markdown) > PAGE.bytes:
            yield Bad(printable(origin), "is larger than 5 MiB", path)
            continue
        digest = digest_of(address, piece.title, piece.markdown)
        page = Page(origin=printable(origin), path=path, markdown="", title=piece.title, address=address, digest=digest)
        yield Draft(page.origin, path, digest, partial(markdown_page, page, piece.markdown))


def _pages_linked(source: bytes, base: str, request: SourceRequest, fetcher: Fetcher) -> Iterator[Item]:
    """The pages that a list links to, as far as they are of its site."""
    visitor = Visitor(request, fetcher, robots.read(fetcher, base), types=HTML + MARKDOWN)
    addresses = []
    for address in _addresses(source.decode("utf-8-sig", "replace"), base):
        if site_of(address) == site_of(base):
            addresses.append(address)
        else:
            yield LeftOut(printable(address), "is on another site")
    if len(addresses) > MAX_PAGES:
        yield Bad(printable(request.location), f"has more than {MAX_PAGES:,} pages; the rest is left out")
    yield from _visit_all(addresses[:MAX_PAGES], visitor)


def _visit_all(addresses: Sequence[str], visitor: Visitor) -> Iterator[Item]:
    """Visit each address and give its items in order."""
    request = visitor.request
    until = time.monotonic() + MAX_SECONDS
    seen: set[str] = set()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for start in range(0, len(addresses), 2 * AT_ONCE):
            if time.monotonic() > until:
                yield Bad(
                    printable(request.location), f"takes longer than {MAX_SECONDS / 60:.0f} minutes; the rest stays"
                )
                yield from (visitor.unread(place_of(address), "was not reached") for address in addresses[start:])
                return
            some = addresses[start : start + 2 * AT_ONCE]
            request.progress(f"{start} of {len(addresses)} pages: {request.path_of(place_of(some[0]))}")
            for address, visit in zip(some, pool.map(visitor.visit, some), strict=True):
                path, place = request.path_of(place_of(address)), request.path_of(visit.address)
                if path != place:
                    yield Moved(path, place)
                if place in seen:
                    continue
                seen.add(place)
                yield visit.item or LeftOut(printable(address), "is no page in Markdown or HTML")


def _addresses(text: str, base: str) -> Iterator[str]:
    """Where the links lead, each page once."""
    seen: set[str] = set()
    for link in links(text):
        address = "" if link.is_image else absolute(link.target, base)
        if address and not _AGAIN.search(address) and place_of(address) not in seen:
            seen.add(place_of(address))
            yield address
