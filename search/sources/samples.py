"""Say where the pages of a source will be, with samples, and try one of them on the real site."""

from threading import Thread
from urllib.parse import quote

from docsite.core.unicode.addresses import urlsplit
from search.sources import Draft, Item, Page
from search.sources.request import SourceRequest

SECONDS = 5.0  # for the answer of the site
PATIENCE = 2.0  # seconds to wait for it after the last page
_RESERVED = (".example", ".example.com", ".example.org", ".example.net", ".test", ".invalid", ".localhost")


class Samples:
    """Three addresses of a source: the first page's, one from the middle and one from the end.

    The first is opened while the others are read, unless the request forbids it or the source is on the web itself.
    """

    def __init__(self, request: SourceRequest) -> None:
        self._request = request
        self._count = 0
        self._addresses: list[str] = []  # of the pages 1, 2, 4, 8, …
        self._outcome = ""
        self._opening: Thread | None = None

    def add(self, item: Item) -> None:
        """Note an item of the source."""
        if not isinstance(item, Page | Draft):
            return
        self._count += 1
        if not self._count & (self._count - 1):
            self._addresses.append(self._make_url(item))
        if self._count == 1 and self._request.opens_sample and _may_be_opened(self._request):
            self._opening = Thread(target=self._open, args=self._addresses[:1], daemon=True)
            self._opening.start()

    def announce(self) -> None:
        """Give the addresses and what opening one of them showed to the request's `progress`."""
        if not self._addresses:
            return
        chosen = (self._addresses[0], self._addresses[len(self._addresses) // 2], self._addresses[-1])
        many = f"{self._count} page{'' if self._count == 1 else 's'}"
        self._request.progress(f"{many} at addresses such as {', '.join(dict.fromkeys(chosen))}")
        if self._opening:
            self._opening.join(PATIENCE)
            self._request.progress(self._outcome or f"{self._addresses[0]} did not answer yet")

    def _make_url(self, item: Page | Draft) -> str:
        place = item.address or quote(item.path)
        return place if urlsplit(place).scheme else f"{self._request.docs_url.rstrip('/')}/{place.lstrip('/')}"

    def _open(self, url: str) -> None:
        from search.sources.web import fetch  # its HTTP client is large

        try:
            with fetch.Fetcher(self._request) as fetcher:
                fetcher.get(url, limits=fetch.Limits(fetch.PAGE.bytes, SECONDS), media_types=("none",))
        except fetch.FetchError as wrong:
            hint = ". Are the docs URL and the generator right?" if wrong.is_gone else ""
            self._outcome = f"{wrong}{hint}"
        else:
            self._outcome = f"{url} is on your site"


def _may_be_opened(request: SourceRequest) -> bool:
    parts = urlsplit(request.docs_url)
    host = f".{parts.hostname or ''}"
    return not request.is_remote and parts.scheme in ("http", "https") and not host.endswith(_RESERVED)
