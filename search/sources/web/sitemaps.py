"""The addresses that sitemaps list (sitemaps.org, version 0.9)."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from search.sources import UnreadablePage
from search.sources.web.fetch import PAGE, Answer, FetchError, decompress, printable, site_of

MAX_SITEMAPS = 200
MAX_ADDRESSES = 50_000
MAX_NESTED = 3  # an index that lists an index that lists a sitemap
_GZIP = b"\x1f\x8b"


@dataclass
class Listing:
    """The addresses in some sitemaps. `is_whole` is False when one of them could not be read this time."""

    addresses: list[str] = field(default_factory=list)
    bad: list[UnreadablePage] = field(default_factory=list)
    is_whole: bool = True


def is_sitemap(answer: Answer) -> bool:
    """Whether a response is a sitemap or an index of sitemaps."""
    try:
        return _name(_root(answer.body)) in ("urlset", "sitemapindex")
    except ValueError:
        return False


def read(get: Callable[[str], Answer], roots: Iterable[str], *, guessed: bool = False) -> Listing:
    """All addresses in the sitemaps at `roots` and in the sitemaps that these list, on their own sites only.

    A sitemap that was only `guessed` may not be there.
    """
    listing = Listing()
    waiting = deque((address, 1) for address in dict.fromkeys(roots))
    seen = {address for address, _ in waiting}
    while waiting:
        address, depth = waiting.popleft()
        try:
            answer = get(address)
            root = _root(answer.body)
        except FetchError as failure:
            if not (guessed and (failure.status // 100 == 4 or failure.elsewhere)):
                listing.bad.append(UnreadablePage(printable(address), failure.reason))
                listing.is_whole = listing.is_whole and failure.is_gone
            continue
        except ValueError as wrong:
            if not guessed:
                listing.bad.append(UnreadablePage(printable(address), str(wrong)))
            continue
        own, strangers = _split(root, answer.url)
        if strangers:
            reason = (
                f"lists {len(strangers)} addresses of other sites, such as {printable(strangers[0])}; they are left out"
            )
            listing.bad.append(UnreadablePage(printable(address), reason))
        if _name(root) == "urlset":
            listing.addresses += own
            if len(listing.addresses) > MAX_ADDRESSES:
                listing.bad.append(
                    UnreadablePage(printable(address), f"lists more than {MAX_ADDRESSES} pages with those before it")
                )
                listing.is_whole = False
                break
            continue
        fresh = [found for found in dict.fromkeys(own) if found not in seen]
        if depth == MAX_NESTED or len(seen) + len(fresh) > MAX_SITEMAPS:
            listing.bad.append(
                UnreadablePage(printable(address), f"lists more than {MAX_SITEMAPS} sitemaps, or too deeply nested")
            )
            listing.is_whole = False
            fresh = [] if depth == MAX_NESTED else fresh[: MAX_SITEMAPS - len(seen)]
        seen.update(fresh)
        waiting.extend((found, depth + 1) for found in fresh)
    return listing


def _root(body: bytes) -> Element:
    """The XML of a sitemap, unpacked where its file is. Raises ValueError with a reason."""
    if body.startswith(_GZIP):
        body = b"".join(decompress([body], "gzip", PAGE.bytes))
    try:
        root: Element = fromstring(body, forbid_dtd=True)
    except DefusedXmlException:
        raise ValueError("has a document type or entities, which no sitemap needs") from None
    except (ParseError, LookupError, ValueError):  # an encoding may be unknown
        raise ValueError("is not XML") from None
    return root


def _split(root: Element, base: str) -> tuple[list[str], list[str]]:
    """The addresses in a sitemap: those on its own site, and the others."""
    own: list[str] = []
    strangers: list[str] = []
    for entry in root:
        if address := next((child.text or "" for child in entry if _name(child) == "loc"), "").strip():
            try:
                is_own = urlsplit(address).scheme in ("http", "https") and site_of(address) == site_of(base)
            except ValueError:
                is_own = False
            (own if is_own else strangers).append(address)
    return own, strangers


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
