"""Where pages come from. A source yields items: pages, drafts, redirects, and why other pages are
missing.

Others import the items below, `registry` (read a source), `request` (what to read) and `generators`
(known site generators). Single functions that others use as well: `markdown` (its front matter, and
the manifest of a test set) and `web` (which private hosts may be read).
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

VERSION = "2"  # of the code that turns files into pages; raise it when pages change, so that digests change
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # what no database takes: NUL, and halves of surrogate pairs


@dataclass(frozen=True)
class Page:
    """A page of a source, in Markdown.

    - `origin` names the file in messages.
    - `markdown`: headings have the anchors that GitHub gives them; `## Name {#anchor}` names another one.
    - `address` is where the site shows the page, absolute or below the docs URL; empty when that is the path.
    - `boost` multiplies its scores.
    - `keywords` find the page although they may not occur in it.
    - `validator` asks a server whether the page has changed (ETag or date, see `search.sources.web.visits`).
    """

    origin: str
    path: str
    markdown: str
    title: str = ""
    description: str = ""
    version: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()
    boost: float = 1.0
    keywords: tuple[str, ...] = ()
    digest: str = ""
    address: str = ""
    validator: str = ""


@dataclass(frozen=True)
class Bad:
    """Something that could not be read as a page, and why. `path` is the page's, if it is known; that page stays."""

    origin: str
    reason: str
    path: str = ""


@dataclass(frozen=True)
class LeftOut:
    """A page that is excluded from search, and why: for example, its front matter says `searchable: false`."""

    origin: str
    reason: str


@dataclass(frozen=True)
class Draft:
    """A page that is built only when its digest is new. `digest` covers everything that the page is built from.

    `make` builds the page, or gives the reason why there is none. `digest_of` computes the digest.
    """

    origin: str
    path: str
    digest: str
    make: Callable[[], Page | Bad | LeftOut]


@dataclass(frozen=True)
class Moved:
    """A redirect from `path` to the page at `target`. Both are normalized paths."""

    path: str
    target: str


Item = Page | Draft | Bad | LeftOut | Moved


def digest_of(*parts: str | bytes) -> str:
    """The digest of a draft built from these parts by this `VERSION`: SHA-256 in hex."""
    digest = hashlib.sha256()
    for part in (VERSION, *parts):
        raw = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(b"%d\n" % len(raw))
        digest.update(raw)
    return digest.hexdigest()
