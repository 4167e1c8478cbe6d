"""Text that every database stores: without NUL and without halves of surrogate pairs, which file names may have."""

from dataclasses import replace
from typing import TypeVar

from search.sources import UNSTORABLE, ExcludedPage, MissingPart, Page, PageRedirect, UnreadablePage

REASON = "contains a NUL character or half of a surrogate pair"
Note = TypeVar("Note", UnreadablePage, ExcludedPage, MissingPart)


def is_storable(item: Page | PageRedirect) -> bool:
    """Whether a database stores every text of the item."""
    values = (value if isinstance(value, tuple) else (value,) for value in vars(item).values())
    return not any(UNSTORABLE.search(text) for texts in values for text in texts if isinstance(text, str))


def clean_text(text: str) -> str:
    """The text with a replacement character for each character that cannot be stored."""
    return UNSTORABLE.sub("\ufffd", text)


def clean_note(note: Note) -> Note:
    """The note with texts that can be shown and stored."""
    return replace(note, origin=clean_text(note.origin), reason=clean_text(note.reason))
