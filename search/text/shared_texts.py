"""One copy of each text of a section for all answers. Texts are most of the memory of an answer that runs."""

import sys
import threading

# Of all projects: about 8,000 sections. They are kept for the next answers. Beyond this, all are dropped.
MAX_BYTES = 16 * 1024 * 1024

_texts: dict[str, str] = {}
_lock = threading.Lock()
_nbytes = 0


def share(text: str) -> str:
    """An equal text that others hold already, else this one, for others to hold."""
    global _nbytes
    known = _texts.get(text)
    if known is not None:
        return known
    with _lock:
        if _nbytes > MAX_BYTES:
            _texts.clear()
            _nbytes = 0
        known = _texts.setdefault(text, text)
        if known is text:
            _nbytes += sys.getsizeof(text)
    return known
