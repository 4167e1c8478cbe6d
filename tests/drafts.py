"""What sources yield, with every draft made."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from search.sources import Draft, ExcludedPage, Item, Page, PageRedirect, UnreadablePage


def made(items: Iterable[Item]) -> Iterator[Page | UnreadablePage | ExcludedPage | PageRedirect]:
    """The items with pages, made as an ingest makes them, in the place of drafts."""
    for item in items:
        page = item.build() if isinstance(item, Draft) else item
        yield (
            replace(page, path=item.path, digest=item.digest)
            if isinstance(item, Draft) and isinstance(page, Page)
            else page
        )
