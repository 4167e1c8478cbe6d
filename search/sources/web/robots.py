"""The pages that a site's robots.txt allows, and how fast they may be read (RFC 9309)."""

from collections.abc import Sequence

from protego import Protego

from search.sources.web.fetch import AGENT, Fetcher, FetchError, Limits, validate_url

MAX_DELAY = 5.0  # seconds between two requests, whatever the site asks for
_LIMITS = Limits(500 * 1024, 20.0)  # the RFC requires to read at least 500 KiB


class Robots:
    """The rules of one site for our user agent."""

    def __init__(self, text: str = "") -> None:
        self._rules = Protego.parse(text)
        self.sitemaps: Sequence[str] = list(self._rules.sitemaps)
        self.delay = min(max(self._rules.crawl_delay(AGENT) or 0.0, 0.0), MAX_DELAY)

    def allows(self, address: str) -> bool:
        """Whether a page may be read."""
        return self._rules.can_fetch(address, AGENT)


def fetch(fetcher: Fetcher, location: str) -> Robots:
    """Fetch the rules of the site of a location. A site without a robots.txt allows everything.

    Raises ValueError when the server fails, because the RFC then forbids to read the site.
    """
    address = str(validate_url(location, location).copy_with(raw_path=b"/robots.txt", fragment=None))
    try:
        return Robots(fetcher.get(address, limits=_LIMITS).body.decode("utf-8-sig", "replace"))
    except FetchError as error:
        is_client_error = 400 <= error.status < 500 and error.status != 429
        if is_client_error or error.leaves_site:
            return Robots()
        if error.is_private:
            raise
        raise ValueError(
            f"{str(error).rstrip('.')}. As long as the rules for crawlers cannot be read, nothing else is."
        ) from None
