"""Where pages come from. A source yields items: pages, drafts of pages, and what it has to say of others."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

VERSION = "2"  # of what turns files into pages; raise it when a page comes out differently: it is part of digests
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # what no database takes: NUL, and halves of surrogate pairs


@dataclass(frozen=True)
class Page:
    """A page as its source has it, in Markdown. `origin` names the file in messages.

    Headings have the anchors that GitHub would give them; where the site
    renders another one, the heading says so: `## Name {#anchor}`. `address` is
    where the site shows the page, absolute or from the docs URL on, where that is
    not just its path. `boost` multiplies its scores. `keywords` are words that readers may search
    it by, whether they occur in it or not. `validator` is what a server gave to ask
    whether the page has changed: an ETag or a date, as `search.sources.web.visits` writes it.
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
    """Something that is no page, and why. `path` is the page it would have been, where that is known."""

    origin: str
    reason: str
    path: str = ""


@dataclass(frozen=True)
class LeftOut:
    """A page that is not to be found, and why: its front matter says `searchable: false`, say."""

    origin: str
    reason: str


@dataclass(frozen=True)
class Draft:
    """A page that need not be made when it was made before: `digest` is of all that goes into it.

    `make` gives the page, or says why there is none. `digest_of` makes the digest.
    """

    origin: str
    path: str
    digest: str
    make: Callable[[], Page | Bad | LeftOut]


@dataclass(frozen=True)
class Moved:
    """A redirect: what is asked of `path` is answered by the page at `target`. Both are normalized paths."""

    path: str
    target: str


Item = Page | Draft | Bad | LeftOut | Moved


def digest_of(*parts: str | bytes) -> str:
    """The digest of a draft that is made of these parts, as long as `VERSION` stays: SHA-256 in hex."""
    digest = hashlib.sha256()
    for part in (VERSION, *parts):
        raw = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(b"%d\n" % len(raw))
        digest.update(raw)
    return digest.hexdigest()
