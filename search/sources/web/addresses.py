"""Decide which addresses a crawl may visit, and normalize them."""

import mimetypes
import posixpath

import httpx

from docsite.core.unicode.addresses import urlsplit
from search.sources.files import MARKDOWN
from search.sources.web.fetch import parse_site, validate_url

MAX_ADDRESS = 1000
_PAGES = (".html", ".htm", ".xhtml", ".php", ".asp", ".aspx", ".jsp")


class Scope:
    """The folder of a site that a crawl reads.

    - The location decides: `/docs/index.html` means the folder `/docs/`, and so does `/docs`.
    - The docs URL decides if it lies deeper on the same site, or if the location is a sitemap.

    `site` is the location's address after redirects.
    """

    def __init__(self, site: str, location: str, docs_url: str, *, is_sitemap: bool) -> None:
        self._site = httpx.URL(site)
        self.folder = "/" if is_sitemap else _find_folder(httpx.URL(location).path)
        if httpx.URL(docs_url).host and parse_site(docs_url) == parse_site(site):
            docs = _find_folder(httpx.URL(docs_url).path)
            self.folder = docs if _is_below(docs, self.folder) else self.folder

    def normalize(self, address: str, base: str = "") -> str:
        """The absolute address without query and fragment; empty if it lies outside the folder."""
        found = httpx.URL(make_absolute(address, base))
        if (
            not found.host
            or parse_site(str(found)) != parse_site(str(self._site))
            or not _is_below(found.path, self.folder)
        ):
            return ""
        # A sitemap may list http addresses of an https site, or leave out `www.`.
        plain = found.copy_with(scheme=self._site.scheme, host=self._site.host, query=None, fragment=None)
        return str(plain)


def make_absolute(address: str, base: str = "") -> str:
    """The absolute http or https address in its standard spelling, without fragment; empty for any other address."""
    if len(address) > MAX_ADDRESS:
        return ""
    try:
        return str(validate_url(address, address, httpx.URL(base) if base else None).copy_with(fragment=None))
    except (httpx.InvalidURL, ValueError):
        return ""


def may_be_page(address: str) -> bool:
    """Whether an address may be an HTML page. Its ending tells images, archives and Markdown apart."""
    path = urlsplit(address).path.lower()
    if path.endswith(_PAGES):
        return True
    kind = (mimetypes.guess_type(path)[0] or "").partition("/")[0]
    return kind not in ("image", "audio", "video", "font", "application") and not path.endswith(MARKDOWN)


def _find_folder(path: str) -> str:
    """The folder of a page, or the path itself if it has no page's ending; with a slash at its end."""
    last = posixpath.basename(path)
    if last.lower().endswith(_PAGES):
        path = posixpath.dirname(path)
    return path.rstrip("/") + "/"


def _is_below(path: str, folder: str) -> bool:
    return f"{path.rstrip('/')}/".startswith(folder)
