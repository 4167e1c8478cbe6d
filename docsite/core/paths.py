"""Normalizes page paths, so that the views, searches and questions of one page have the same path."""

import re
from urllib.parse import unquote

from docsite.core.unicode import normalization

MAX_LENGTH = 400
_MAX_RAW = 10_000  # characters of an address that are considered
CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def normalize(raw: str) -> str:
    """The path of a page: one leading slash, no trailing slash, at most 400 characters.

    Query, fragment, scheme and host are removed, percent-escapes decoded, and accents composed (NFC). `.md`,
    `.html` and a final `/index` are removed, so that they name the same page.

    >>> normalize("https://docs.example.com/a/b/index.html?x=1#y")
    '/a/b'
    """
    path = re.sub(r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^/?#]*", "", raw[:_MAX_RAW].strip())
    path = re.split(r"[?#]", path, maxsplit=1)[0]
    path = normalization.normalize("NFC", CONTROL_CHARACTERS.sub("", unquote(path)))
    path = "/" + "/".join(part for part in path.split("/") if part not in ("", "."))
    path = re.sub(r"\.(md|mdx|markdown|html?)$", "", path, flags=re.IGNORECASE)
    path = re.sub(r"/index$", "", path, flags=re.IGNORECASE)
    return path[:MAX_LENGTH].rstrip("/") or "/"


def within(path: str, folder: str) -> str:
    """A normalized path relative to a folder; a path outside the folder stays as it is.

    >>> within("/docs/a", "/docs")
    '/a'
    """
    if folder != "/" and (path == folder or path.startswith(f"{folder}/")):
        return path[len(folder) :] or "/"
    return path
