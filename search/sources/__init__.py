"""Where pages come from. A source yields `Page`, or `Bad` for what it could not read."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A page as its source has it. `origin` names the file in messages."""

    origin: str
    path: str
    markdown: str
    title: str = ""
    description: str = ""
    version: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bad:
    """Something that is no page, and why. `path` is the page it would have been, where that is known."""

    origin: str
    reason: str
    path: str = ""
