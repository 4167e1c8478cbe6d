"""Items of sources with all drafts built."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from search.sources import Draft, ExcludedPage, Item, MissingPart, Page, PageRedirect, UnreadablePage


def build_drafts(items: Iterable[Item]) -> Iterator[Page | UnreadablePage | ExcludedPage | MissingPart | PageRedirect]:
    """The items. Each draft is replaced by its page, built as an ingest builds it."""
    for item in items:
        page = item.build() if isinstance(item, Draft) else item
        yield (
            replace(page, path=item.path, digest=item.digest)
            if isinstance(item, Draft) and isinstance(page, Page)
            else page
        )
