"""Say where the pages of a source will be, with samples, and try one of them on the real site."""

from collections.abc import Iterable, Iterator
from threading import Thread
from urllib.parse import quote

from docsite.core.unicode.addresses import urlsplit
from search.sources import Draft, Item, Page
from search.sources.request import SourceRequest

SECONDS = 5.0  # for the answer of the site
PATIENCE = 2.0  # seconds to wait for it after the last page
_RESERVED = (".example", ".example.com", ".example.org", ".example.net", ".test", ".invalid", ".localhost")


def announce(items: Iterable[Item], request: SourceRequest) -> Iterator[Item]:
    """The items. In the end the request's `progress` gets three addresses: the first page's, one from the middle, the
    last.

    The first is opened while the others are read, unless the request forbids it or the source is on the web itself.
    """
    count = 0
    addresses: list[str] = []  # of the pages 1, 2, 4, 8, …
    outcome: list[str] = []
    opening: Thread | None = None
    for item in items:
        if isinstance(item, Page | Draft):
            count += 1
            if not count & (count - 1):
                place = item.address or quote(item.path)
                is_absolute = bool(urlsplit(place).scheme)
                addresses.append(place if is_absolute else f"{request.docs_url.rstrip('/')}/{place.lstrip('/')}")
            if count == 1 and request.opens_sample and _may_be_opened(request):
                opening = Thread(target=lambda: outcome.append(_open(request, addresses[0])), daemon=True)
                opening.start()
        yield item
    if addresses:
        chosen = (addresses[0], addresses[len(addresses) // 2], addresses[-1])
        many = f"{count} page{'' if count == 1 else 's'}"
        request.progress(f"{many} at addresses such as {', '.join(dict.fromkeys(chosen))}")
    if opening:
        opening.join(PATIENCE)
        request.progress(outcome[0] if outcome else f"{addresses[0]} did not answer yet")


def _open(request: SourceRequest, url: str) -> str:
    """A sentence about what opening an address showed."""
    from search.sources.web import fetch  # its HTTP client is large

    try:
        with fetch.Fetcher(request) as fetcher:
            fetcher.get(url, limits=fetch.Limits(fetch.PAGE.bytes, SECONDS), media_types=("none",))
    except fetch.FetchError as wrong:
        return f"{wrong}. Are the docs URL and the generator right?" if wrong.is_gone else str(wrong)
    return f"{url} is on your site"


def _may_be_opened(request: SourceRequest) -> bool:
    parts = urlsplit(request.docs_url)
    host = f".{parts.hostname or ''}"
    return not request.is_remote and parts.scheme in ("http", "https") and not host.endswith(_RESERVED)
