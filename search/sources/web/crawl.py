"""Crawl a site: the pages that its sitemap lists, or those that links lead to."""

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import httpx

from docsite.core.http.errors import format_duration
from search.sources import Draft, ExcludedPage, Item, PageRedirect, UnreadablePage
from search.sources.request import SourceRequest
from search.sources.web import robots, sitemaps
from search.sources.web.addresses import Scope, may_be_page
from search.sources.web.fetch import Fetcher, parse_site, printable
from search.sources.web.visits import Visit, Visitor

MAX_CONCURRENT = 4  # requests
MAX_PAGES = 5_000
MAX_LINKS = 50  # clicks from the location to a page
MAX_SECONDS = 3600.0
MAX_FAILURES = 30  # in a row: then the site is down
MIN_SITEMAP_PAGES = 3  # a sitemap with fewer pages is only a start, so the crawl follows links too


def recognizes(request: SourceRequest) -> bool:
    """Whether the location is an address. Readers of single files come before this one."""
    return request.is_remote


def read(request: SourceRequest) -> Iterator[Item]:
    """Yield the pages of a site below a location, which may be its sitemap.

    A page that cannot be read this time is an `UnreadablePage`, so the index keeps it. A page that no longer exists is
    an `ExcludedPage`. Raises ValueError when the location itself cannot be read.
    """
    with Fetcher(request) as fetcher:
        yield from Crawl(request, fetcher).items()


class Crawl:
    """One crawl. Several threads visit the pages; items come in the order in which the pages were found.

    Raises ValueError when the location cannot be read.
    """

    def __init__(self, request: SourceRequest, fetcher: Fetcher) -> None:
        self.request = request
        self.max_pages = request.max_pages or MAX_PAGES
        self.max_seconds = request.max_seconds or MAX_SECONDS
        self.deadline = time.monotonic() + self.max_seconds
        self.visitor = Visitor(request, fetcher, robots.fetch(fetcher, request.location))
        start = fetcher.get(request.location)
        self.is_sitemap = sitemaps.is_sitemap(start)
        if not self.is_sitemap and not self.visitor.robots.allows(request.location):
            raise ValueError(f"The robots.txt of the site says that {printable(request.location)} is not to be read.")
        self.scope = Scope(start.url, request.location, request.docs_url, is_sitemap=self.is_sitemap)
        self.site = start.url
        self.follows_links = False  # links are followed, because no sitemap lists the pages
        self.queue: deque[tuple[str, int]] = deque()  # addresses, and their distance from the location in links
        self.found: set[str] = set()  # paths that are or were in the queue
        self.visited: set[str] = set()
        self.is_incomplete = False  # a page failed, so pages that only it links to may be missing
        self.limits_reached: dict[str, None] = {}  # sentences about limits that were reached; in order, without repeats
        self.failures = 0  # in a row
        self.reported_at = 0.0

    def begin(self) -> list[str]:
        """The addresses that it would visit first. Without a sitemap, links lead to more."""
        list(self.fill_queue())
        start = self.visitor.visit(self.site) if self.follows_links else None
        for link in start.page.links if start and start.page else ():
            self.enqueue(self.scope.normalize(link), 1)
        return [address for address, _ in self.queue]

    @property
    def base_url(self) -> str:
        """The address of the folder that it reads."""
        site = httpx.URL(self.site)
        return f"{site.scheme}://{site.netloc.decode()}{self.scope.folder.rstrip('/')}"

    def items(self) -> Iterator[Item]:
        """Visit all pages and yield their items."""
        yield from self.fill_queue()
        with ThreadPoolExecutor(MAX_CONCURRENT) as pool:
            running: deque[tuple[str, int, Future[Visit]]] = deque()
            while self.has_more() or running:
                while self.has_more() and len(running) < 2 * MAX_CONCURRENT:
                    address, links = self.queue.popleft()
                    # The server does not send an unchanged page, so its links would be missing.
                    visit = pool.submit(self.visitor.visit, address, unconditional=self.follows_links)
                    running.append((address, links, visit))
                address, links, visit = running.popleft()
                self.report_progress(address, len(running))
                yield from self.handle(address, links, visit.result())
                if self.is_incomplete and not (self.queue or running):
                    self.is_incomplete = False  # the pages that link to those of the last run may have failed
                    for address in self.request.previous_validators:
                        self.enqueue(self.scope.normalize(address), 0)
        for reason in self.limits_reached:
            yield UnreadablePage(printable(self.request.location), reason)
        for address in self.request.previous_validators if self.limits_reached else ():
            if self.scope.normalize(address) and self.request.path_of(address) not in self.visited:
                yield self.visitor.keep_previous_page(address, "was not reached this time")

    def fill_queue(self) -> Iterator[UnreadablePage]:
        """Fill the queue with the location and with the addresses in sitemaps."""
        if self.is_sitemap:
            listing = sitemaps.fetch_all(self.visitor.fetch, [self.site])
        elif self.visitor.robots.sitemaps:
            listing = sitemaps.fetch_all(self.visitor.fetch, self.list_site_sitemaps())
        else:
            paths = dict.fromkeys((f"{self.scope.folder}sitemap.xml", "/sitemap.xml"))
            guesses = [str(httpx.URL(self.site).join(path)) for path in paths]
            listing = sitemaps.fetch_all(self.visitor.fetch, guesses, guessed=True)
        yield from listing.unreadable
        self.is_incomplete = not listing.is_complete
        if not self.is_sitemap:
            start = self.scope.normalize(self.request.location)
            self.enqueue(start or self.scope.normalize(self.scope.folder, self.site), 0)
        pages = dict.fromkeys(filter(None, map(self.scope.normalize, listing.addresses)))
        for address in pages:
            self.enqueue(address, 0)
        self.follows_links = not self.is_sitemap and len(pages) < MIN_SITEMAP_PAGES

    def list_site_sitemaps(self) -> Iterator[str]:
        """The sitemaps in robots.txt that are on the site itself."""
        for address in self.visitor.robots.sitemaps:
            with suppress(ValueError):
                if parse_site(address) == parse_site(self.site):
                    yield address

    def enqueue(self, address: str, links: int) -> None:
        """Queue an address, unless its page was queued before."""
        path = self.request.path_of(address)
        if not address or path in self.found or not may_be_page(address):
            return
        if len(self.found) >= self.max_pages:
            self.limits_reached[f"has more than {self.max_pages:,} pages; the rest is left as it was"] = None
        elif links > MAX_LINKS:
            reason = f"has pages that are more than {MAX_LINKS} links away; they are left as they were"
            self.limits_reached[reason] = None
        else:
            self.found.add(path)
            self.queue.append((address, links))

    def has_more(self) -> bool:
        """Whether the queue has more pages, and no limit is reached."""
        if not self.queue:
            return False
        if time.monotonic() > self.deadline:
            limit = format_duration(round(self.max_seconds))
            self.limits_reached[f"takes longer than {limit}; the rest is left as it was"] = None
        elif self.failures >= MAX_FAILURES:
            self.limits_reached[f"failed {MAX_FAILURES} times in a row; the rest is left as it was"] = None
        else:
            return True
        return False

    def handle(self, address: str, links: int, visit: Visit) -> Iterator[Item]:
        """Yield the items of a visit, and queue the page's links."""
        path, new_path = self.request.path_of(address), self.request.path_of(visit.address)
        self.visited.add(path)
        failed = isinstance(visit.item, UnreadablePage) and visit.failure is not None
        self.failures = self.failures + 1 if failed else 0
        self.is_incomplete = self.is_incomplete or failed
        if new_path != path:
            if not self.scope.normalize(visit.address):
                yield ExcludedPage(address, f"leads to {printable(visit.address)}, which is outside of what is read")
                return
            yield PageRedirect(path, new_path)
            if new_path in self.found:
                return
            self.found.add(new_path)
            self.visited.add(new_path)
        if visit.page and self.follows_links:
            for link in visit.page.links:
                self.enqueue(self.scope.normalize(link), links + 1)
        if visit.page and visit.page.refresh:  # it only redirects
            target = self.scope.normalize(visit.page.refresh)
            if target and self.request.path_of(target) != new_path:
                self.enqueue(target, links + 1)
                yield PageRedirect(new_path, self.request.path_of(target))
        elif isinstance(visit.item, Draft) and (canonical := self.find_canonical(visit, links)):
            yield ExcludedPage(visit.address, f"names {printable(canonical)} as the page to be found")
        elif visit.item:
            yield visit.item

    def find_canonical(self, visit: Visit, links: int) -> str:
        """The canonical address of a page if it is another page of this crawl, else empty."""
        canonical = self.scope.normalize(visit.page.canonical) if visit.page and visit.page.canonical else ""
        path = self.request.path_of(canonical)
        if not canonical or path == self.request.path_of(visit.address):
            return ""
        if self.follows_links:
            self.enqueue(canonical, links + 1)
        return canonical if path in self.found else ""

    def report_progress(self, address: str, running: int) -> None:
        """Report progress about once a second."""
        if time.monotonic() - self.reported_at >= 1:
            self.reported_at = time.monotonic()
            done = len(self.visited) + 1
            total = done + running + len(self.queue)
            self.request.progress(f"{done} of {total} pages: {self.request.path_of(address)}")
