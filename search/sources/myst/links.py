"""Roles and links in the text of a page in MyST: `{ref}`name``, `[](other.md#heading)`, `[text](name)`."""

import re
from collections.abc import Iterator
from typing import Any, cast

from docutils import nodes

from search.sources.rst import roles
from search.sources.rst.site import Site, Target, link
from search.sources.rst.writer import Writer
from search.text.markdown.writer import escape_text

MAX_PARAGRAPH = 20_000  # characters of a paragraph that has references; more is data
_MARKUP = re.compile(
    r"\{(?P<role>[\w:.+-]{1,100})\}`(?P<content>[^`]{1,1000})`"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?:.{1,1000}?)(?<!`)(?P=ticks)(?!`)"
    r"|(?<![!\\\]])\[(?P<text>(?:[^\[\]`]|`[^`]{1,200}`){0,500})\]\(<?(?P<target>[^()\s<>]{1,1000})>?(?:\s+\"[^\"]*\")?\)"
    r"|<project:(?P<address>[^<>\s]{1,1000})>",
    re.DOTALL,
)
_LINKED = re.compile(r"\]\(<?([^()\s<>]{1,1000})|<project:([^<>\s]{1,1000})>")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_ADDRESS = re.compile(r"[#/:]|\.html?$")
_PAGE = re.compile(r"\.(?:md|rst|txt)$")


def resolve(text: str, site: Site, page: str) -> str:
    """A paragraph with its references as links of Markdown."""
    if len(text) > MAX_PARAGRAPH:
        return text
    writer = Writer(cast(Any, nodes.document)(None, None))

    def replace(found: re.Match[str]) -> str:
        if found["role"]:
            return writer.line(roles.render(found["role"].lower(), " ".join(found["content"].split()), site, page))
        if target := found["target"] or found["address"]:
            return _link(found["text"] or "", target.removeprefix("project:"), site, page)
        return found[0]

    return _MARKUP.sub(replace, text)


def referred(source: str, site: Site, page: str) -> Iterator[str]:
    """The present targets of a page's links: its digest depends on them. `Site.referred` has those of roles."""
    for target, name in _LINKED.findall(source):
        target = name or target.removeprefix("project:")
        yield str(_target(target, site, page) or _is_name(target, site, page))


def _link(text: str, target: str, site: Site, page: str) -> str:
    there = _target(target, site, page)
    if there:
        return f"[{text or escape_text(there.title) or target}]({link(page, there.page, there.anchor)})"
    if _is_name(target, site, page):
        return text or f"`{target}`"
    return f"[{text or target}]({target})"


def _is_name(target: str, site: Site, page: str) -> bool:
    """Whether a link's target is a name, of a function perhaps, and neither an address nor a file."""
    return not _ADDRESS.search(target) and not site.included(target, page)


def _target(target: str, site: Site, page: str) -> Target | None:
    """The heading or the label on this site that a link means, by file or by name."""
    if _ELSEWHERE.match(target):
        return None
    file, _, anchor = target.partition("#")
    if not file:
        return site.headings.get(page, {}).get(anchor) or site.label(anchor)
    name = site.page(file, page)
    if name in site.titles and (_PAGE.search(file) or not site.label(target)):
        found = site.headings.get(name, {}).get(anchor) if anchor else None
        return found or Target(name, anchor, site.titles[name])
    return site.label(target)
