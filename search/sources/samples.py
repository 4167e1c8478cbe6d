"""Try the address of a source's first page on the real site."""

from collections.abc import Iterable, Iterator
from threading import Thread
from urllib.parse import quote

from docsite.core.unicode.addresses import urlsplit
from search.sources import Draft, Item, Page
from search.sources.request import SourceRequest

SECONDS = 5.0  # for the answer of the site
PATIENCE = 2.0  # seconds to wait for it after the last page
_RESERVED = (".example", ".example.com", ".example.org", ".example.net", ".test", ".invalid", ".localhost")


def open_first(items: Iterable[Item], request: SourceRequest) -> Iterator[Item]:
    """The items. In the end the request's `progress` gets a sentence about the address of the first page.

    It is opened while the others are read, unless the request forbids it or the source is on the web itself.
    """
    outcome: list[str] = []
    opening: Thread | None = None
    address = ""
    for item in items:
        if not address and isinstance(item, Page | Draft):
            place = item.address or quote(item.path)
            is_absolute = bool(urlsplit(place).scheme)
            address = place if is_absolute else f"{request.docs_url.rstrip('/')}/{place.lstrip('/')}"
            if request.opens_sample and _may_be_opened(request):
                opening = Thread(target=_open, args=(request, address, outcome), daemon=True)
                opening.start()
        yield item
    if opening:
        opening.join(PATIENCE)
        request.progress(outcome[0] if outcome else f"{address} did not answer yet")


def _open(request: SourceRequest, url: str, outcome: list[str]) -> None:
    """Add a sentence about what opening an address showed."""
    from search.sources.web import fetch  # its HTTP client is large

    try:
        with fetch.Fetcher(request) as fetcher:
            fetcher.get(url, limits=fetch.Limits(fetch.PAGE.bytes, SECONDS), media_types=("none",))
    except fetch.FetchError as wrong:
        outcome.append(f"{wrong}. Are the docs URL and the generator right?" if wrong.is_gone else str(wrong))
    else:
        outcome.append(f"{url} is on your site")


def _may_be_opened(request: SourceRequest) -> bool:
    parts = urlsplit(request.docs_url)
    host = f".{parts.hostname or ''}"
    return not request.is_remote and parts.scheme in ("http", "https") and not host.endswith(_RESERVED)
