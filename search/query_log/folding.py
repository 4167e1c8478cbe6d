"""The folded text of a query: spellings that differ only in case or in composed letters are one query."""

from docsite.core.unicode.normalization import normalize

MAX_LENGTH = 400  # characters; folding can make a text longer


def fold(text: str) -> str:
    """The query case-folded and in NFC. Databases fold different alphabets, so Python does it."""
    return normalize("NFC", text.casefold())


def fold_for_storage(text: str) -> str:
    """The folded text as the column `folded` has it."""
    return fold(text)[:MAX_LENGTH]
