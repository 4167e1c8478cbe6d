"""Visit a page of a site: fetch it by the site's rules and read it."""

import threading
import time
from dataclasses import dataclass, replace
from functools import partial

from search.sources import VERSION, Draft, ExcludedPage, Page, UnreadablePage, compute_digest
from search.sources.html import HtmlPage, read_html
from search.sources.request import SourceRequest
from search.sources.web.fetch import Answer, Fetcher, FetchError
from search.sources.web.markdown_page import markdown_page, place_of
from search.sources.web.robots import Robots

HTML = ("text/html", "application/xhtml+xml")
MARKDOWN = ("text/markdown", "text/x-markdown", "text/plain")
_NOT_ALLOWED = "the robots.txt of its site says that it is not to be read"


@dataclass(frozen=True)
class Visit:
    """The result of a visit. `address` is the page's after redirects.

    `item` is None where there is no page, for another reason than that it cannot be had. `failure` says why nothing
    came, `page` what a page in HTML says of others.
    """

    address: str
    item: Draft | UnreadablePage | ExcludedPage | None = None
    failure: FetchError | None = None
    page: HtmlPage | None = None


class Visitor:
    """Visits pages of one site by its rules for crawlers. Safe for several threads.

    `types` are the media types of what is a page.
    """

    def __init__(self, request: SourceRequest, fetcher: Fetcher, robots: Robots, types: tuple[str, ...] = HTML) -> None:
        self.request = request
        self.types = types
        self.fetcher = fetcher
        self.robots = robots
        self._turn = threading.Lock()
        self._next = 0.0

    def visit(self, address: str, *, whole: bool = False) -> Visit:
        """Read a page. An unchanged page is not sent again, unless it must be `whole`."""
        place = place_of(address)
        if not self.robots.allows(address):
            return Visit(place, ExcludedPage(address, _NOT_ALLOWED))
        tag, digest = self._known(place)
        try:
            answer = self.ask(address, "" if whole else tag, only=self.types)
        except FetchError as failure:
            return Visit(place, self._unfetched(address, failure), failure)
        place = place_of(answer.url)
        if not self.robots.allows(answer.url):
            return Visit(place, ExcludedPage(answer.url, _NOT_ALLOWED))
        if answer.is_unchanged:
            return Visit(place, Draft(place, self.request.path_of(place), digest, partial(self._again, address)))
        if answer.content_type not in self.types:
            return Visit(place)
        return self._of_html(answer) if answer.content_type in HTML else self._of_markdown(answer)

    def _of_html(self, answer: Answer) -> Visit:
        path = self.request.path_of(answer.url)
        try:
            page = read_html(answer.body, answer.url, answer.charset)
        except ValueError as wrong:
            return Visit(answer.url, UnreadablePage(answer.url, str(wrong), path))
        if page.noindex or _is_hidden(answer):
            return Visit(answer.url, ExcludedPage(answer.url, "says that it is not to be indexed"), page=page)
        if page.refresh:
            return Visit(answer.url, page=page)
        made = Page(
            origin=answer.url,
            path=path,
            markdown=page.markdown,
            title=page.title,
            description=page.description,
            version=page.version,
            language=page.language,
            keywords=page.keywords,
            address=answer.url,
        )
        return Visit(answer.url, draft(made, answer.validator), page=page)

    def _of_markdown(self, answer: Answer) -> Visit:
        place = place_of(answer.url)
        page = Page(origin=answer.url, path=self.request.path_of(place), markdown="", address=place)
        made = markdown_page(page, answer.body)
        return Visit(place, draft(made, answer.validator) if isinstance(made, Page) else made)

    def ask(self, address: str, validator: str = "", only: tuple[str, ...] = ()) -> Answer:
        """Fetch an address at the pace that the site asks for. Raises FetchError."""
        with self._turn:
            now = time.monotonic()
            at = max(self._next, now)
            self._next = at + self.robots.delay
        if at > now:
            time.sleep(at - now)
        return self.fetcher.get(address, validator, only=only)

    def unread(self, address: str, reason: str) -> Draft | UnreadablePage:
        """The item for a page of the last run that this run did not fetch: the page stays."""
        path = self.request.path_of(address)
        bad = UnreadablePage(address, reason, path)
        _, digest = self._known(address)
        return Draft(address, path, digest, lambda: bad) if digest else bad

    def _known(self, address: str) -> tuple[str, str]:
        """The server's validator and the digest of the last run; empty without usable ones."""
        version, _, rest = self.request.previous_validators.get(address, "").partition(" ")
        digest, _, tag = rest.partition(" ")
        return (tag, digest) if version == VERSION else ("", "")

    def _again(self, address: str) -> Page | UnreadablePage | ExcludedPage:
        """Fetch an unchanged page after all, because the index needs it again."""
        visit = self.visit(address, whole=True)
        if isinstance(visit.item, Draft):
            return visit.item.build()
        return visit.item or UnreadablePage(
            address, "changed its kind while it was read", self.request.path_of(address)
        )

    def _unfetched(self, address: str, failure: FetchError) -> UnreadablePage | ExcludedPage:
        if failure.is_gone or failure.elsewhere:
            return ExcludedPage(address, failure.reason)
        return UnreadablePage(address, failure.reason, self.request.path_of(address))


def _is_hidden(answer: Answer) -> bool:
    """Whether the server's headers forbid all crawlers to index the page."""
    said = answer.headers.get("x-robots-tag", "").lower().split(",")
    return not {word.strip() for word in said}.isdisjoint({"noindex", "none"})


def draft(page: Page, tag: str = "") -> Draft:
    """A draft of a page that is already read. Its digest covers all of the page; `tag` is the server's validator.

    The page's own validator is `VERSION`, the digest and the tag. So an unchanged page keeps its digest, and every
    page is fetched again after `VERSION` has changed.
    """
    digest = compute_digest(repr(page))
    made = replace(page, digest=digest, validator=f"{VERSION} {digest} {tag}".rstrip())
    return Draft(page.origin, page.path, digest, lambda: made)
