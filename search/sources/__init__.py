"""Read the pages of a documentation site from folders, archives, files and addresses.

A source yields items: pages, drafts of pages, redirects, and pages that are missing with the reason.

Other packages import the items below, `registry` (read a source), `detection` (look at a source without reading all of
it), `request` (what to read) and `generators` (the names of site generators). Others also use the front matter and
manifests of `markdown`, the rules of `archives`, the fetcher of `web`, and `html` for single pages.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

VERSION = "6"  # of the code that builds pages; raise it when it builds other pages, so that all digests change
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # no database stores NUL or half of a surrogate pair


class Problem(NamedTuple):
    """A part of a page that could not be read, though the page was, or a setting of a source.

    `kind` is `configuration`, `front matter`, `markup`, `include`, `shortcode` or `reference`; `detail` says which one.
    """

    kind: str
    detail: str


@dataclass(frozen=True)
class Page:
    """A page of a source, in Markdown.

    - `origin` names the file or address in messages.
    - `markdown`: a heading has the anchor that GitHub gives it, or another one as in `## Name {#anchor}`.
    - `address` is the page's URL, absolute or relative to the docs URL; empty when it equals the path.
    - `boost` multiplies its scores.
    - `keywords` also find the page; they need not occur in its text.
    - `groups` are those whose readers see the page: none means everybody, None that the page does not say.
    - `anchors` are those that are no headings, where the text does not show them.
    - `problems` are its parts that could not be read.
    - `validator` is for a conditional request: has the page changed? (`search.sources.web.visits` explains its parts.)
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
    groups: tuple[str, ...] | None = None
    anchors: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class UnreadablePage:
    """A page that could not be read, and why. The page that the index has at `path` stays; `path` may be empty.

    Also used for other files that could not be read, such as a sitemap.
    """

    origin: str
    reason: str
    path: str = ""


@dataclass(frozen=True)
class ExcludedPage:
    """A page that search must not find, and why. Example: its front matter says `searchable: false`."""

    origin: str
    reason: str


@dataclass(frozen=True)
class Draft:
    """A page that is not built yet. It is built only if the index has no page with this digest.

    `digest` covers all inputs of the page (`compute_digest`). `build` returns the page, or why there is none. `address`
    is that of the page, as far as it is known before the page is built.
    """

    origin: str
    path: str
    digest: str
    build: Callable[[], Page | UnreadablePage | ExcludedPage]
    address: str = ""


@dataclass(frozen=True)
class PageRedirect:
    """A redirect from `path` to the page at `target`. Both are normalized paths."""

    path: str
    target: str


Item = Page | Draft | UnreadablePage | ExcludedPage | PageRedirect | Problem


def compute_digest(*parts: str | bytes) -> str:
    """The digest of a draft that is built from these parts by this `VERSION`: SHA-256 in hex."""
    digest = hashlib.sha256()
    for part in (VERSION, *parts):
        raw = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(b"%d\n" % len(raw))
        digest.update(raw)
    return digest.hexdigest()
