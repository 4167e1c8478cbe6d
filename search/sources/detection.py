"""Look at a source without reading all of it: what it is, how many pages it has, and whether some addresses exist."""

import posixpath
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from docsite.core.tenants.models import Project
from docsite.core.unicode.addresses import urlsplit
from search.sources import Draft, ExcludedPage, Page, UnreadablePage, site_names
from search.sources.registry import detect_generator, read
from search.sources.request import SourceRequest
from search.sources.web import crawl
from search.sources.web.fetch import Fetcher, FetchError, printable
from search.sources.web.visits import Visit

SAMPLES = 5  # addresses
MAX_SECONDS = 20.0  # for everything
MAX_PAGES = 2_000  # that are counted in a folder or a file
MAX_LISTED = 8  # pages of an llms.txt, each of which is fetched


@dataclass(frozen=True)
class Sample:
    """An address of a page. `exists` is None when it was not opened; `reason` then says why, or what is wrong."""

    address: str
    title: str = ""
    exists: bool | None = None
    reason: str = ""


@dataclass(frozen=True)
class Detection:
    """What a source seems to be.

    - `generator` as `registry.detect_generator` names it.
    - `pages` is the number of pages that were counted; `has_more` says that there may be more.
    - `base_url` is where the site seems to be published; empty if the files do not tell it.
    - `name` is that of the site, as its pages or its configuration say; empty if they do not.
    """

    generator: str
    pages: int
    has_more: bool
    language: str
    base_url: str
    name: str
    samples: Sequence[Sample]

    def to_json(self) -> dict[str, Any]:
        """The same as values that JSON has."""
        return asdict(self)


def detect(request: SourceRequest) -> Detection:
    """Look at a source for some seconds. Raises ValueError with a sentence when it cannot be read at all.

    The docs URL of the request may be empty. Addresses of a folder's pages are opened only if it is not.
    """
    generator = detect_generator(request)
    with Fetcher(request, max_seconds=MAX_SECONDS) as fetcher:
        if request.is_remote and not generator:
            return _detect_site(request, fetcher)
        return _detect_pages(request, generator, fetcher)


def _detect_site(request: SourceRequest, fetcher: Fetcher) -> Detection:
    """Look at a site that is crawled."""
    site = crawl.Crawl(request, fetcher)
    found = site.begin()
    with ThreadPoolExecutor(crawl.MAX_CONCURRENT) as pool:
        visits = list(pool.map(site.visitor.visit, _spread(found)))
    pages = [visit.item.build() for visit in visits if isinstance(visit.item, Draft)]
    readable = [page for page in pages if isinstance(page, Page)]
    samples = [_describe_visit(visit) for visit in visits]
    name = site_names.agree([visit.page.site_name for visit in visits if visit.page])
    return Detection("", len(found), site.follows_links, _find_language(readable), site.base_url, name, samples)


def _describe_visit(visit: Visit) -> Sample:
    if isinstance(visit.item, UnreadablePage | ExcludedPage):
        return Sample(visit.address, exists=False, reason=visit.item.reason)
    title = visit.page.title if visit.page else ""
    return Sample(visit.address, title, visit.item is not None, "" if visit.item else "is no page")


def _detect_pages(request: SourceRequest, generator: str, fetcher: Fetcher) -> Detection:
    """Look at a folder, an archive or a file. Its pages are drafts, which take no time until they are built."""
    most = MAX_LISTED if request.is_remote and generator == "llms.txt" else MAX_PAGES
    until = time.monotonic() + MAX_SECONDS / 2
    drafts: list[Draft | Page] = []
    has_more = False
    for item in read(request):
        if isinstance(item, Draft | Page):
            drafts.append(item)
        if len(drafts) == most or time.monotonic() > until:
            has_more = True
            break
    if not drafts:
        raise ValueError(f"{printable(request.location)} has no page that can be read")
    drafts.sort(key=lambda draft: draft.path != "/")
    built = [item.build() if isinstance(item, Draft) else item for item in _spread(drafts)]
    pages = [page for page in built if isinstance(page, Page)]
    base_url = request.docs_url
    if not base_url and request.is_remote:
        parts = urlsplit(request.location)
        base_url = f"{parts.scheme}://{parts.netloc}{posixpath.dirname(parts.path).rstrip('/')}"
    elif not base_url:
        base_url = site_names.find_address(Path(request.location))
    addresses = [Project(docs_url=base_url).url_of(page.path, address=page.address) for page in pages]
    samples = [Sample(address, page.title) for address, page in zip(addresses, pages, strict=True)]
    if base_url:
        with ThreadPoolExecutor(crawl.MAX_CONCURRENT) as pool:
            samples = list(pool.map(lambda sample: _open(fetcher, sample), samples))
    name = site_names.find_in_folder(request.folder) if request.folder else ""
    if generator == "OpenAPI":
        name = next((page.title for page in pages if page.title), "")
    return Detection(generator, len(drafts), has_more, _find_language(pages), base_url, name, samples)


def _open(fetcher: Fetcher, sample: Sample) -> Sample:
    try:
        response = fetcher.get(sample.address, media_types=("none",))  # only the status counts
    except FetchError as failure:
        return Sample(sample.address, sample.title, False, failure.reason)
    shown_at = "" if response.url == sample.address.partition("#")[0] else f"leads to {printable(response.url)}"
    return Sample(sample.address, sample.title, True, shown_at)


def _spread(found: Sequence[Any]) -> list[Any]:
    """The first of some things, and four others that are spread over the rest."""
    step = max(1, (len(found) - 1) / (SAMPLES - 1)) if len(found) > 1 else 1
    places = dict.fromkeys(round(number * step) for number in range(SAMPLES))
    return [found[place] for place in islice(places, SAMPLES) if place < len(found)]


def _find_language(pages: Iterable[Page]) -> str:
    """The language of most pages; empty if unknown."""
    named = [language for page in pages if (language := page.language.partition("-")[0].lower())]
    return max(set(named), key=named.count) if named else ""
