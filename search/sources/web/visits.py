"""Visit a page of a site: fetch it by the site's rules for crawlers, and convert it."""

import threading
import time
from dataclasses import dataclass, replace
from functools import partial

from search.sources import VERSION, Draft, ExcludedPage, Page, UnreadablePage, compute_digest
from search.sources.html import HtmlPage, read_html
from search.sources.request import SourceRequest
from search.sources.web.fetch import Fetcher, FetchError, Response
from search.sources.web.markdown_page import build_page, get_page_address
from search.sources.web.robots import Robots

HTML = ("text/html", "application/xhtml+xml")
MARKDOWN = ("text/markdown", "text/x-markdown", "text/plain")
_NOT_ALLOWED = "the robots.txt of its site says that it is not to be read"


@dataclass(frozen=True)
class Visit:
    """The result of a visit.

    - `address` is the page's address after redirects.
    - `item` is None if the address has something other than a page, or a page that only redirects.
    - `failure` is the error if nothing could be fetched.
    - `page` is the HTML page, with its links; None for other formats.
    """

    address: str
    item: Draft | UnreadablePage | ExcludedPage | None = None
    failure: FetchError | None = None
    page: HtmlPage | None = None


class Visitor:
    """Visits pages of one site by its rules for crawlers. Safe for several threads.

    Responses with other `media_types` are no pages.
    """

    def __init__(
        self, request: SourceRequest, fetcher: Fetcher, robots: Robots, media_types: tuple[str, ...] = HTML
    ) -> None:
        self.request = request
        self.media_types = media_types
        self.fetcher = fetcher
        self.robots = robots
        self._lock = threading.Lock()
        self._next_time = 0.0

    def visit(self, address: str, *, unconditional: bool = False) -> Visit:
        """Visit a page. The server need not send an unchanged page again, unless the request is `unconditional`."""
        page_address = get_page_address(address)
        if not self.robots.allows(address):
            return Visit(page_address, ExcludedPage(address, _NOT_ALLOWED))
        tag, digest = self._load_validator_and_digest(page_address)
        try:
            response = self.fetch(address, "" if unconditional else tag, media_types=self.media_types)
        except FetchError as failure:
            if failure.is_gone or failure.leaves_site:
                return Visit(page_address, ExcludedPage(address, failure.reason), failure)
            return Visit(page_address, UnreadablePage(address, failure.reason, self.request.path_of(address)), failure)
        page_address = get_page_address(response.url)
        if not self.robots.allows(response.url):
            return Visit(page_address, ExcludedPage(response.url, _NOT_ALLOWED))
        if response.is_unchanged:
            path = self.request.path_of(page_address)
            return Visit(page_address, Draft(page_address, path, digest, partial(self._refetch_unchanged, address)))
        if response.content_type not in self.media_types:
            return Visit(page_address)
        if response.content_type in HTML:
            return self._build_html_visit(response)
        page = Page(origin=response.url, path=self.request.path_of(page_address), markdown="", address=page_address)
        built = build_page(page, response.body)
        return Visit(page_address, make_draft(built, response.validator) if isinstance(built, Page) else built)

    def _build_html_visit(self, response: Response) -> Visit:
        path = self.request.path_of(response.url)
        try:
            page = read_html(response.body, response.url, response.charset)
        except ValueError as wrong:
            return Visit(response.url, UnreadablePage(response.url, str(wrong), path))
        directives = {word.strip() for word in response.headers.get("x-robots-tag", "").lower().split(",")}
        if page.noindex or directives & {"noindex", "none"}:
            return Visit(response.url, ExcludedPage(response.url, "says that it is not to be indexed"), page=page)
        if page.refresh:
            return Visit(response.url, page=page)
        draft = make_draft(page.to_page(response.url, path, response.url), response.validator)
        return Visit(response.url, draft, page=page)

    def fetch(self, address: str, validator: str = "", media_types: tuple[str, ...] = ()) -> Response:
        """Fetch an address after the pause that the site's rules ask for. Raises FetchError."""
        with self._lock:
            now = time.monotonic()
            start = max(self._next_time, now)
            self._next_time = start + self.robots.delay
        if start > now:
            time.sleep(start - now)
        return self.fetcher.get(address, validator, media_types=media_types)

    def keep_previous_page(self, address: str, reason: str) -> Draft | UnreadablePage:
        """The item that keeps a page of the last run, which this run did not fetch."""
        path = self.request.path_of(address)
        unreadable = UnreadablePage(address, reason, path)
        _, digest = self._load_validator_and_digest(address)
        return Draft(address, path, digest, lambda: unreadable) if digest else unreadable

    def _load_validator_and_digest(self, address: str) -> tuple[str, str]:
        """The server's validator and the digest from the last run; both empty for a new page."""
        version, _, rest = self.request.previous_validators.get(address, "").partition(" ")
        digest, _, tag = rest.partition(" ")
        return (tag, digest) if version == VERSION else ("", "")

    def _refetch_unchanged(self, address: str) -> Page | UnreadablePage | ExcludedPage:
        """Fetch an unchanged page in full, because the index needs its text again."""
        visit = self.visit(address, unconditional=True)
        if isinstance(visit.item, Draft):
            return visit.item.build()
        return visit.item or UnreadablePage(
            address, "changed its kind while it was read", self.request.path_of(address)
        )


def make_draft(page: Page, tag: str = "") -> Draft:
    """The draft of a page that is already built. Its digest covers the whole page; `tag` is the server's validator.

    The page's own validator consists of `VERSION`, the digest and the tag. So an unchanged page keeps its digest, and
    after `VERSION` has changed every page is fetched again.
    """
    digest = compute_digest(repr(page))
    built = replace(page, digest=digest, validator=f"{VERSION} {digest} {tag}".rstrip())
    return Draft(page.origin, page.path, digest, lambda: built)
