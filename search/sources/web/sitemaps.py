"""Fetch the addresses that sitemaps list (sitemaps.org, version 0.9)."""

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from docsite.core.unicode.addresses import urlsplit
from search.sources import UnreadablePage
from search.sources.web.fetch import PAGE, FetchError, Response, decompress, parse_site, printable

MAX_SITEMAPS = 200
MAX_ADDRESSES = 50_000
MAX_NESTED = 3  # an index that lists an index that lists a sitemap
_GZIP = b"\x1f\x8b"


@dataclass
class Listing:
    """The addresses in some sitemaps. `is_complete` is False if more may exist than could be read this time."""

    addresses: list[str] = field(default_factory=list)
    unreadable: list[UnreadablePage] = field(default_factory=list)
    is_complete: bool = True


def is_sitemap(response: Response) -> bool:
    """Whether a response is a sitemap or an index of sitemaps."""
    with suppress(ValueError):
        return bool(_parse_xml(response.body).tag)
    return False


def fetch_all(get: Callable[[str], Response], roots: Iterable[str], *, guessed: bool = False) -> Listing:
    """Fetch the sitemaps at `roots`, and the sitemaps that they list. An address must be on the sitemap's own site.

    With `guessed`, nobody named these sitemaps; it is no error if they do not exist.
    """
    listing = Listing()

    def report(reason: str, *, is_complete: bool = True) -> None:
        listing.unreadable.append(UnreadablePage(printable(address), reason))
        listing.is_complete = listing.is_complete and is_complete

    queue = deque((address, 1) for address in dict.fromkeys(roots))
    seen = {address for address, _ in queue}
    while queue:
        address, depth = queue.popleft()
        try:
            response = get(address)
            root = _parse_xml(response.body)
        except FetchError as failure:
            if not (guessed and (failure.status // 100 == 4 or failure.leaves_site)):
                report(failure.reason, is_complete=failure.is_gone)
            continue
        except ValueError as wrong:
            if not guessed:
                report(str(wrong))
            continue
        site_addresses, other_addresses = _split_by_site(root, response.url)
        if other_addresses:
            example = printable(other_addresses[0])
            report(f"lists {len(other_addresses)} addresses of other sites, such as {example}; they are left out")
        if _local_name(root) == "urlset":
            listing.addresses += site_addresses
            if len(listing.addresses) > MAX_ADDRESSES:
                report(f"lists more than {MAX_ADDRESSES} pages with those before it", is_complete=False)
                break
            continue
        new = [found for found in dict.fromkeys(site_addresses) if found not in seen]
        if depth == MAX_NESTED or len(seen) + len(new) > MAX_SITEMAPS:
            report(f"lists more than {MAX_SITEMAPS} sitemaps, or too deeply nested", is_complete=False)
            new = [] if depth == MAX_NESTED else new[: MAX_SITEMAPS - len(seen)]
        seen.update(new)
        queue.extend((found, depth + 1) for found in new)
    return listing


def _parse_xml(body: bytes) -> Element:
    """Parse a sitemap, which may be compressed. Raises ValueError with a reason."""
    if body.startswith(_GZIP):
        body = b"".join(decompress([body], "gzip", PAGE.bytes))
    try:  # a document type is allowed, entities are not, and nothing is fetched
        root: Element = fromstring(body.lstrip(b"\xef\xbb\xbf \t\r\n"))
    except DefusedXmlException:
        raise ValueError("has entities, which no sitemap needs") from None
    except (ParseError, LookupError, ValueError):  # an encoding may be unknown
        raise ValueError("is not XML") from None
    if _local_name(root) not in ("urlset", "sitemapindex"):
        raise ValueError("is no sitemap")
    return root


def _split_by_site(root: Element, base: str) -> tuple[list[str], list[str]]:
    """The addresses in a sitemap: first those on the site of `base`, then the others."""
    site_addresses: list[str] = []
    other_addresses: list[str] = []
    for entry in root:
        if address := next((child.text or "" for child in entry if _local_name(child) == "loc"), "").strip():
            try:
                is_same_site = urlsplit(address).scheme in ("http", "https") and parse_site(address) == parse_site(base)
            except ValueError:
                is_same_site = False
            (site_addresses if is_same_site else other_addresses).append(address)
    return site_addresses, other_addresses


def _local_name(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
