"""The pages that a site's robots.txt allows, and how fast they may be read (RFC 9309)."""

from collections.abc import Sequence

import httpx
from protego import Protego

from search.sources.web.fetch import AGENT, Fetcher, FetchError, Limits

MAX_DELAY = 5.0  # seconds between two requests, whatever the site asks for
_CAPS = Limits(500 * 1024, 20.0)  # the least that the RFC lets a reader stop at


class Robots:
    """The rules of one site for our user agent."""

    def __init__(self, text: str = "") -> None:
        self._rules = Protego.parse(text)
        self.sitemaps: Sequence[str] = list(self._rules.sitemaps)
        self.delay = min(max(self._rules.crawl_delay(AGENT) or 0.0, 0.0), MAX_DELAY)

    def allows(self, address: str) -> bool:
        """Whether a page may be read."""
        return self._rules.can_fetch(address, AGENT)


def read(fetcher: Fetcher, location: str) -> Robots:
    """The rules of the site that a location is on; a site without a robots.txt allows everything.

    Raises ValueError when the server fails: by the RFC nothing may be read then.
    """
    address = str(httpx.URL(location).copy_with(raw_path=b"/robots.txt", fragment=None))
    try:
        return Robots(fetcher.get(address, caps=_CAPS).body.decode("utf-8-sig", "replace"))
    except FetchError as failure:
        refused = 400 <= failure.status < 500 and failure.status != 429
        if refused or failure.elsewhere:
            return Robots()
        raise ValueError(f"{failure}. As long as the rules for crawlers cannot be read, nothing else is.") from None
