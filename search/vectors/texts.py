"""The text of a section that becomes a vector."""

import hashlib
from collections.abc import Sequence

# Longer texts take longer, and most models read no more than this. If you change how the text is built, raise
# `search.indexing.build.FORMAT`: the digests of all sections are then computed again.
MAX_CHARACTERS = 1500


def build_text(title: str, trail: Sequence[str], text: str) -> str:
    """The title of the page, the headings above the section and its own, and the beginning of its plain text."""
    names = dict.fromkeys(name for name in (title, *trail) if name)
    return f"{' > '.join(names)}\n{text}"[:MAX_CHARACTERS]


def compute_digest(title: str, trail: Sequence[str], text: str) -> str:
    """The BLAKE2b digest of what `build_text` returns: 32 hexadecimal digits. Sections with the same share a vector."""
    return hashlib.blake2b(build_text(title, trail, text).encode(), digest_size=16).hexdigest()
