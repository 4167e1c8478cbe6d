"""Crawl a site: the pages that its sitemap lists, or those that links lead to."""

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import httpx

from search.sources import Draft, ExcludedPage, Item, PageRedirect, UnreadablePage
from search.sources.request import SourceRequest
from search.sources.web import robots, sitemaps
from search.sources.web.addresses import Scope, may_be_page
from search.sources.web.fetch import Fetcher, printable, site_of
from search.sources.web.visits import Visit, Visitor

AT_ONCE = 4  # requests
MAX_PAGES = 5_000
MAX_LINKS = 50  # from the location to a page
MAX_SECONDS = 3600.0
MAX_FAILURES = 30  # in a row: then the site is down
FEW = 3  # pages that a sitemap lists: with less it says where to begin, not what there is


def recognizes(request: SourceRequest) -> bool:
    """Whether the location is an address; other readers take those of single files first."""
    return request.is_remote


def read(request: SourceRequest) -> Iterator[Item]:
    """The pages of a site below a location, which may be its sitemap; drafts for pages that have not changed.

    A page that cannot be read this time is an `UnreadablePage`, so the index keeps it. A page that no longer exists is
    an `ExcludedPage`. Raises ValueError when the location itself cannot be read.
    """
    with Fetcher(request) as fetcher:
        yield from _Crawl(request, fetcher).items()


class _Crawl:
    """One crawl. Several threads visit the pages; the items come in the order in which pages were found."""

    def __init__(self, request: SourceRequest, fetcher: Fetcher) -> None:
        self.request = request
        self.visitor = Visitor(request, fetcher, robots.read(fetcher, request.location))
        start = fetcher.get(request.location)
        self.is_sitemap = sitemaps.is_sitemap(start)
        if not self.is_sitemap and not self.visitor.robots.allows(request.location):
            raise ValueError(f"The robots.txt of the site says that {printable(request.location)} is not to be read.")
        self.scope = Scope(start.url, request.location, request.docs_url, is_sitemap=self.is_sitemap)
        self.site = start.url
        self.follows = False  # whether links say what there is
        self.queue: deque[tuple[str, int]] = deque()  # addresses, and how many links away they are
        self.found: set[str] = set()  # paths that are or were in the queue
        self.visited: set[str] = set()
        self.missed = False  # a page failed, so pages that only it links to may be missing
        self.cuts: dict[str, None] = {}  # what was left out because of a cap
        self.failures = 0  # in a row
        self.until = time.monotonic() + MAX_SECONDS
        self.reported_at = 0.0

    def items(self) -> Iterator[Item]:
        """The items of the site."""
        yield from self.begin()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            running: deque[tuple[str, int, Future[Visit]]] = deque()
            while self.has_more() or running:
                while self.has_more() and len(running) < 2 * AT_ONCE:
                    address, links = self.queue.popleft()
                    # What has not changed is not sent, and its links with it.
                    visit = pool.submit(self.visitor.visit, address, whole=self.follows)
                    running.append((address, links, visit))
                address, links, visit = running.popleft()
                self.report_progress(address, len(running))
                yield from self.handle(address, links, visit.result())
                if self.missed and not (self.queue or running):
                    self.enqueue_known()
        for cut in self.cuts:
            yield UnreadablePage(printable(self.request.location), cut)
        if self.cuts:
            yield from self.unread()

    def begin(self) -> Iterator[UnreadablePage]:
        """Fill the queue from the sitemaps, and with the location."""
        if self.is_sitemap:
            listing = sitemaps.read(self.visitor.ask, [self.site])
        elif self.visitor.robots.sitemaps:
            listing = sitemaps.read(self.visitor.ask, self.own_sitemaps())
        else:
            places = dict.fromkeys((f"{self.scope.folder}sitemap.xml", "/sitemap.xml"))
            guesses = [str(httpx.URL(self.site).join(place)) for place in places]
            listing = sitemaps.read(self.visitor.ask, guesses, guessed=True)
        yield from listing.bad
        self.missed = not listing.is_whole
        if not self.is_sitemap:
            self.enqueue(self.scope.own(self.request.location) or self.scope.own(self.scope.folder, self.site), 0)
        pages = dict.fromkeys(own for address in listing.addresses if (own := self.scope.own(address)))
        for address in pages:
            self.enqueue(address, 0)
        self.follows = not self.is_sitemap and len(pages) < FEW

    def own_sitemaps(self) -> Iterator[str]:
        """Those that robots.txt names on the site itself."""
        for address in self.visitor.robots.sitemaps:
            with suppress(ValueError):
                if site_of(address) == site_of(self.site):
                    yield address

    def enqueue(self, address: str, links: int) -> None:
        """Queue an address, unless it was found before in any spelling."""
        path = self.request.path_of(address)
        if not address or path in self.found or not may_be_page(address):
            return
        if len(self.found) >= MAX_PAGES:
            self.cuts[f"has more than {MAX_PAGES:,} pages; the rest is left as it was"] = None
        elif links > MAX_LINKS:
            self.cuts[f"has pages that are more than {MAX_LINKS} links away; they are left as they were"] = None
        else:
            self.found.add(path)
            self.queue.append((address, links))

    def enqueue_known(self) -> None:
        """Queue the pages of the last run, too: the page that links to them may be one that failed."""
        self.missed = False
        for address in self.request.previous_validators:
            self.enqueue(self.scope.own(address), 0)

    def has_more(self) -> bool:
        """Whether there is more to visit, and time for it."""
        if not self.queue:
            return False
        if time.monotonic() > self.until:
            self.cuts[f"takes longer than {MAX_SECONDS / 60:.0f} minutes; the rest is left as it was"] = None
        elif self.failures >= MAX_FAILURES:
            self.cuts[f"failed {MAX_FAILURES} times in a row; the rest is left as it was"] = None
        else:
            return True
        return False

    def handle(self, address: str, links: int, visit: Visit) -> Iterator[Item]:
        """Give the items of a visit, and queue the links that it found."""
        path, place = self.request.path_of(address), self.request.path_of(visit.address)
        self.visited.add(path)
        failed = isinstance(visit.item, UnreadablePage) and visit.failure is not None
        self.failures = self.failures + 1 if failed else 0
        self.missed = self.missed or failed
        if place != path:
            if not self.scope.own(visit.address):
                yield ExcludedPage(address, f"leads to {printable(visit.address)}, which is outside of what is read")
                return
            yield PageRedirect(path, place)
            if place in self.found:
                return
            self.found.add(place)
            self.visited.add(place)
        if visit.page and self.follows:
            for link in visit.page.links:
                self.enqueue(self.scope.own(link), links + 1)
        if visit.page and visit.page.refresh:
            yield from self.refreshed(visit, links)
        elif isinstance(visit.item, Draft) and (main := self.main_of(visit, links)):
            yield ExcludedPage(visit.address, f"names {printable(main)} as the page to be found")
        elif visit.item:
            yield visit.item

    def refreshed(self, visit: Visit, links: int) -> Iterator[PageRedirect]:
        """The items of a page that only redirects."""
        path = self.request.path_of(visit.address)
        target = self.scope.own(visit.page.refresh if visit.page else "")
        if target and self.request.path_of(target) != path:
            self.enqueue(target, links + 1)
            yield PageRedirect(path, self.request.path_of(target))

    def main_of(self, visit: Visit, links: int) -> str:
        """The address of the page that this is a copy of, where that is in the crawl; empty for most pages."""
        main = self.scope.own(visit.page.canonical) if visit.page and visit.page.canonical else ""
        path = self.request.path_of(main)
        if not main or path == self.request.path_of(visit.address):
            return ""
        if self.follows:
            self.enqueue(main, links + 1)
        return main if path in self.found else ""

    def unread(self) -> Iterator[Draft | UnreadablePage]:
        """Items for the pages of the last run that the crawl did not reach."""
        for address in self.request.previous_validators:
            if self.scope.own(address) and self.request.path_of(address) not in self.visited:
                yield self.visitor.unread(address, "was not reached this time")

    def report_progress(self, address: str, running: int) -> None:
        """Report progress about once a second."""
        if time.monotonic() - self.reported_at >= 1:
            self.reported_at = time.monotonic()
            done = len(self.visited) + 1
            total = done + running + len(self.queue)
            self.request.progress(f"{done} of {total} pages: {self.request.path_of(address)}")
