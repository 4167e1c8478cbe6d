"""Text that a database takes: without NUL, and without halves of surrogate pairs, as names of files may have them."""

from dataclasses import replace
from typing import TypeVar

from search.sources import UNSTORABLE, Bad, LeftOut, Moved, Page

REASON = "contains a NUL character or half of a surrogate pair"
Note = TypeVar("Note", Bad, LeftOut)


def is_storable(item: Page | Moved) -> bool:
    """Whether everything that an item says can be stored."""
    values = (value if isinstance(value, tuple) else (value,) for value in vars(item).values())
    return not any(UNSTORABLE.search(text) for some in values for text in some if isinstance(text, str))


def cleaned(text: str) -> str:
    """The text with a replacement character in place of each that cannot be stored."""
    return UNSTORABLE.sub("\ufffd", text)


def told(note: Note) -> Note:
    """A note as it may be shown and stored."""
    return replace(note, origin=cleaned(note.origin), reason=cleaned(note.reason))
