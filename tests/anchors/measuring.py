"""Compare the pages and anchors that a source gives with the HTML files of its built site."""

import re
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from search.sources import Draft, Page, UnreadablePage
from search.sources.registry import read
from search.sources.request import SourceRequest
from search.text.sections import split
from tests.anchors.sites import RealSite

_ID = re.compile(r"""\s(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))""", re.IGNORECASE)
_REDIRECT = re.compile(r"""<meta[^<>]*http-equiv\s*=\s*["']?refresh""", re.IGNORECASE)


@dataclass
class Comparison:
    """What was found for one site. Misses are addresses that the built site does not have."""

    pages: int = 0
    pages_found: int = 0
    pages_built: int = 0
    anchors: int = 0
    anchors_found: int = 0
    missing_pages: list[str] = field(default_factory=list)
    missing_anchors: list[str] = field(default_factory=list)
    unindexed: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def compare(site: RealSite, source: Path, built: Path) -> Comparison:
    """Read the source as the service would, and look each address and anchor up in the built site."""
    found = Comparison()
    files = {path.relative_to(built).as_posix(): path for path in built.rglob("*.html")}
    indexed: set[str] = set()
    request = SourceRequest(str(source / site.docs), site.docs_url)
    for item in read(request):
        page = item.build() if isinstance(item, Draft) else item
        if isinstance(page, UnreadablePage):
            found.unreadable.append(f"{page.origin}: {page.reason}")
        if not isinstance(page, Page):
            continue
        found.pages += 1
        address = urlsplit(page.address or page.path).path
        bare = unquote(address).strip("/")
        key = next((name for name in (bare, f"{bare}.html", f"{bare}/index.html".lstrip("/")) if name in files), None)
        if key is None:
            found.missing_pages.append(f"{page.origin} → {address}")
            continue
        found.pages_found += 1
        indexed.add(key)
        ids = {unescape(next(filter(None, match.groups()), "")) for match in _ID.finditer(files[key].read_text())}
        for anchor in dict.fromkeys(part.anchor for part in split(page.markdown, page.title) if part.anchor):
            found.anchors += 1
            if anchor in ids or unquote(anchor) in ids:
                found.anchors_found += 1
            else:
                found.missing_anchors.append(f"{address}#{anchor}")
    for key, file in files.items():
        if not _REDIRECT.search(file.read_text(errors="replace")[:4000]):
            found.pages_built += 1
            if key not in indexed:
                found.unindexed.append(f"/{key}")
    return found
