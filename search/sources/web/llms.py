"""Read files for agents (llmstxt.org): `llms.txt` lists a site's pages, `llms-full.txt` contains them."""

import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from docsite.core.http.errors import format_duration
from docsite.core.paths import normalize
from docsite.core.unicode.addresses import urlsplit
from search.sources import Draft, ExcludedPage, Item, Page, PageRedirect, UnreadablePage, compute_digest
from search.sources.request import SourceRequest
from search.sources.web import llms_full, robots
from search.sources.web.addresses import make_absolute
from search.sources.web.crawl import MAX_CONCURRENT, MAX_PAGES, MAX_SECONDS
from search.sources.web.fetch import LARGE, PAGE, Fetcher, parse_site, printable
from search.sources.web.markdown_page import build_page, get_page_address
from search.sources.web.visits import HTML, MARKDOWN, Visitor
from search.text.markdown.links import links
from search.text.markdown.plain_text import anchor_and_heading

_NAMES = ("llms.txt", "llms-full.txt")
_LLMS_FILE = re.compile(r"/llms(?:-\w+)*\.txt$")


def recognizes(request: SourceRequest) -> bool:
    """Whether the location is such a file on the web or on disk."""
    if request.is_remote:
        return urlsplit(request.location).path.lower().endswith(tuple(f"/{name}" for name in _NAMES))
    return request.file is not None and request.file.name.lower() in _NAMES


def read(request: SourceRequest) -> Iterator[Item]:
    """The pages that the file contains or links to. On disk, its links are relative to the docs URL.

    Raises ValueError when it does not exist, or is too large.
    """
    is_full = urlsplit(request.location).path.lower().endswith("llms-full.txt")
    limits = LARGE if is_full else PAGE
    with Fetcher(request) as fetcher:
        if request.file:
            if request.file.stat().st_size > limits.bytes:
                raise ValueError(f"{request.file.name} is larger than {limits.bytes // 1024 // 1024} MiB")
            source, base = request.file.read_bytes(), request.docs_url
        else:
            response = fetcher.get(request.location, limits=limits)
            if response.content_type in HTML:  # some sites send a page for every unknown address
                raise ValueError(f"{printable(request.location)} is a page in HTML, so the site has no such file.")
            source, base = response.body, response.url
        if is_full:
            yield from _read_full_file(source, base, request)
        else:
            yield from _read_linked_pages(source, base, request, fetcher)


def _read_full_file(source: bytes, base: str, request: SourceRequest) -> Iterator[Item]:
    """The pages of an `llms-full.txt`. A page without an address gets a path from its title."""
    limit = request.max_pages or MAX_PAGES
    seen: dict[str, int] = {}
    for count, piece in enumerate(llms_full.split_pages(source), 1):
        if count > limit:
            yield _too_many_pages(request, limit)
            return
        address = get_page_address(make_absolute(piece.address, base)) if piece.address else ""
        if address:
            origin, path = address, request.path_of(address)
        else:
            path = normalize(anchor_and_heading(piece.title, seen)[0] or "page")
            origin = f"{piece.title or 'a page without a title'} (page {count})"
        if len(piece.markdown) > PAGE.bytes:
            yield UnreadablePage(printable(origin), "is larger than 5 MiB", path)
            continue
        digest = compute_digest(address, piece.title, piece.markdown)
        page = Page(origin=printable(origin), path=path, markdown="", title=piece.title, address=address, digest=digest)
        yield Draft(page.origin, path, digest, partial(build_page, page, piece.markdown))


def _too_many_pages(request: SourceRequest, limit: int) -> UnreadablePage:
    return UnreadablePage(printable(request.location), f"has more than {limit:,} pages; the rest is left out")


def _read_linked_pages(source: bytes, base: str, request: SourceRequest, fetcher: Fetcher) -> Iterator[Item]:
    """The pages that an `llms.txt` links to. Pages of other sites are excluded."""
    visitor = Visitor(request, fetcher, robots.fetch(fetcher, base), media_types=HTML + MARKDOWN)
    addresses = []
    for address in _extract_addresses(source.decode("utf-8-sig", "replace"), base):
        if parse_site(address) == parse_site(base):
            addresses.append(address)
        else:
            yield ExcludedPage(printable(address), "is on another site")
    limit = request.max_pages or MAX_PAGES
    if len(addresses) > limit:
        yield _too_many_pages(request, limit)
    yield from _visit_all(addresses[:limit], visitor)


def _visit_all(addresses: Sequence[str], visitor: Visitor) -> Iterator[Item]:
    """Visit each address and yield the items in order."""
    request = visitor.request
    max_seconds = request.max_seconds or MAX_SECONDS
    deadline = time.monotonic() + max_seconds
    seen: set[str] = set()
    with ThreadPoolExecutor(MAX_CONCURRENT) as pool:
        for start in range(0, len(addresses), 2 * MAX_CONCURRENT):
            if time.monotonic() > deadline:
                reason = f"takes longer than {format_duration(round(max_seconds))}; the rest stays"
                yield UnreadablePage(printable(request.location), reason)
                yield from (
                    visitor.keep_previous_page(get_page_address(address), "was not reached")
                    for address in addresses[start:]
                )
                return
            batch = addresses[start : start + 2 * MAX_CONCURRENT]
            request.progress(f"{start} of {len(addresses)} pages: {request.path_of(get_page_address(batch[0]))}")
            for address, visit in zip(batch, pool.map(visitor.visit, batch), strict=True):
                path, new_path = request.path_of(get_page_address(address)), request.path_of(visit.address)
                if path != new_path:
                    yield PageRedirect(path, new_path)
                if new_path in seen:
                    continue
                seen.add(new_path)
                yield visit.item or ExcludedPage(printable(address), "is no page in Markdown or HTML")


def _extract_addresses(text: str, base: str) -> Iterator[str]:
    """The absolute addresses of the links, each page once."""
    seen: set[str] = set()
    for link in links(text):
        address = "" if link.is_image else make_absolute(link.target, base)
        if address and not _LLMS_FILE.search(address) and get_page_address(address) not in seen:
            seen.add(get_page_address(address))
            yield address
