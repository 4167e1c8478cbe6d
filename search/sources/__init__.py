"""Where pages come from. A source yields `Page`, or `Bad` for what it could not read."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A page as its source has it, in Markdown. `origin` names the file in messages.

    `boost` multiplies its scores. `keywords` are words that readers may search
    it by, whether they occur in it or not.
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


@dataclass(frozen=True)
class Bad:
    """Something that is no page, and why. `path` is the page it would have been, where that is known."""

    origin: str
    reason: str
    path: str = ""
