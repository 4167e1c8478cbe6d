"""The addresses that a crawl may visit, each in one spelling."""

import mimetypes
import posixpath
from urllib.parse import urlsplit

import httpx

from search.sources.files import MARKDOWN
from search.sources.web.fetch import site_of

MAX_ADDRESS = 1000
_PAGES = (".html", ".htm", ".xhtml", ".php", ".asp", ".aspx", ".jsp")


class Scope:
    """The folder of a site that is read.

    It is that of the location: one with an ending, such as `/docs/index.html`, means the folder around it, one
    without, such as `/docs`, is a folder itself. It is that of the docs URL where this lies further down on the same
    site, or where the location is a sitemap. `site` is where the location led to.
    """

    def __init__(self, site: str, location: str, docs_url: str, *, is_sitemap: bool) -> None:
        self._site = httpx.URL(site)
        self.folder = "/" if is_sitemap else _folder(httpx.URL(location).path)
        if httpx.URL(docs_url).host and site_of(docs_url) == site_of(site):
            docs = _folder(httpx.URL(docs_url).path)
            self.folder = docs if _below(docs, self.folder) else self.folder

    def own(self, address: str, base: str = "") -> str:
        """The crawl's spelling of an address: absolute, without query and fragment; empty outside the folder."""
        found = httpx.URL(absolute(address, base))
        if not found.host or site_of(str(found)) != site_of(str(self._site)) or not _below(found.path, self.folder):
            return ""
        # A sitemap may say http where the site speaks https, or leave out its www.
        plain = found.copy_with(scheme=self._site.scheme, host=self._site.host, query=None, fragment=None)
        return str(plain)


def absolute(address: str, base: str = "") -> str:
    """An address on the web, absolute and as the standard spells it, without its fragment; empty for any other."""
    if len(address) > MAX_ADDRESS:
        return ""
    try:
        found = httpx.URL(base).join(address) if base else httpx.URL(address)
        site_of(str(found))  # which minds the port, too
    except (httpx.InvalidURL, ValueError):
        return ""
    plain = found.scheme in ("http", "https") and found.host and not found.userinfo
    return str(found.copy_with(fragment=None)) if plain else ""


def may_be_page(address: str) -> bool:
    """Whether an address may be an HTML page. An image, an archive or Markdown by its name is not."""
    path = urlsplit(address).path.lower()
    if path.endswith(_PAGES):
        return True
    kind = (mimetypes.guess_type(path)[0] or "").partition("/")[0]
    return kind not in ("image", "audio", "video", "font", "application") and not path.endswith(MARKDOWN)


def _folder(path: str) -> str:
    """The folder that a path means, with a slash at its end."""
    last = posixpath.basename(path)
    if last.lower().endswith(_PAGES):
        path = posixpath.dirname(path)
    return path.rstrip("/") + "/"


def _below(path: str, folder: str) -> bool:
    return f"{path.rstrip('/')}/".startswith(folder)
