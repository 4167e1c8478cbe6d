"""Roles and links in the text of a page in MyST: `{ref}`name``, `[](other.md#heading)`, `[text](name)`."""

import re
from collections.abc import Iterator
from typing import Any, cast

from docutils import nodes

from search.sources.rst import roles
from search.sources.rst.site import Site, Target, relative_link
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
_EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_ADDRESS = re.compile(r"[#/:]|\.html?$")
_PAGE = re.compile(r"\.(?:md|rst|txt)$")


def resolve(text: str, site: Site, page: str) -> str:
    """A paragraph with its roles and links as plain Markdown."""
    if len(text) > MAX_PARAGRAPH:
        return text
    writer = Writer(cast(Any, nodes.document)(None, None))

    def replace(match: re.Match[str]) -> str:
        if match["role"]:
            return writer.line(roles.render_role(match["role"].lower(), " ".join(match["content"].split()), site, page))
        if target := match["target"] or match["address"]:
            return _link(match["text"] or "", target.removeprefix("project:"), site, page)
        return match[0]

    return _MARKUP.sub(replace, text)


def link_targets(source: str, site: Site, page: str) -> Iterator[str]:
    """The present targets of a page's links. Its digest depends on them, and on `Site.link_targets` for roles."""
    for target, name in _LINKED.findall(source):
        target = name or target.removeprefix("project:")
        yield str(_find_target(target, site, page) or _is_name(target, site, page))


def _link(text: str, target: str, site: Site, page: str) -> str:
    destination = _find_target(target, site, page)
    if destination:
        address = relative_link(page, destination.page, destination.anchor)
        return f"[{text or escape_text(destination.title) or target}]({address})"
    if _is_name(target, site, page):
        return text or f"`{target}`"
    return f"[{text or target}]({target})"


def _is_name(target: str, site: Site, page: str) -> bool:
    """Whether a link's target is a name (for example of a function), and neither an address nor a file."""
    return not _ADDRESS.search(target) and not site.find_include(target, page)


def _find_target(target: str, site: Site, page: str) -> Target | None:
    """The heading or the label on this site to which a link leads, by file or by name."""
    if _EXTERNAL.match(target):
        return None
    file, _, anchor = target.partition("#")
    if not file:
        return site.headings.get(page, {}).get(anchor) or site.find_label(anchor)
    name = site.resolve_page(file, page)
    if name in site.titles and (_PAGE.search(file) or not site.find_label(target)):
        heading = site.headings.get(name, {}).get(anchor) if anchor else None
        return heading or Target(name, anchor, site.titles[name])
    return site.find_label(target)
