"""Roles: the nodes of `:name:`text``. One function serves all names. An unknown role is code, as most roles are."""

import re
from typing import Any
from urllib.parse import quote

from docutils import nodes
from docutils.parsers.rst.states import Inliner

from search.sources.rst.scope import Scope
from search.sources.rst.site import Site, link

_PROSE = frozenset([
    "abbr", "abbreviation", "ac", "acronym", "eq", "guilabel", "index", "inline", "menuselection", "small", "sub",
    "subscript", "sup", "superscript", "term", "title",
])  # fmt: skip
_STYLES: dict[str, type[nodes.TextElement]] = {
    **dict.fromkeys(["emphasis", "dfn", "title-reference", "t", "cite"], nodes.emphasis),
    "strong": nodes.strong,
}
_WHOLE = frozenset(["abbr", "abbreviation", "code", "command", "file", "guilabel", "kbd", "literal", "math", "samp"])
_STANDARDS = {
    "cve": "https://www.cve.org/CVERecord?id=CVE-{}",
    "cwe": "https://cwe.mitre.org/data/definitions/{}.html",
    "pep": "https://peps.python.org/pep-{:0>4}/",
    "rfc": "https://www.rfc-editor.org/rfc/rfc{}",
}


def role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, options: Any = None, content: Any = None
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Every role, as docutils calls it. The document is a `rst.Document`."""
    scope: Scope = inliner.document.scope  # type: ignore[attr-defined]
    name = name.lower()
    for _ in range(10):  # roles of the page may build upon each other
        name = scope.roles.get(name, name)
    return render(name or scope.site.default_role or "cite", text, scope.site, scope.page), []


def render(role: str, text: str, site: Site, page: str) -> list[nodes.Node]:
    """The nodes of a role and its text. The domain in front of a role's name makes no difference here."""
    text = text.replace("\x00", "")
    name = role.lower().rsplit(":", 1)[-1].removesuffix("-reference")
    if name == "raw":
        return []
    if name in _STYLES:
        return [_STYLES[name]("", text)]
    title, target = (text, "") if name in _WHOLE else split_target(text)
    if role in site.extlinks:
        return [_external(*site.extlinks[role], title, target)]
    if name in _STANDARDS and re.fullmatch(r"[\d-]+(?:#.*)?", target or title):
        number, _, anchor = (target or title).partition("#")
        place = _STANDARDS[name].format(number)
        return [_link(title if target else f"{name.upper()} {number}", f"{place}#{anchor}" if anchor else place)]
    title = title.lstrip("!")
    if name in ("ref", "numref", "doc"):
        return [_reference(name, title if target else "", target or title.strip(), site, page)]
    if name in _PROSE or name in _STANDARDS:
        return [nodes.Text(title.replace("-->", "→").replace("&", "" if name == "guilabel" else "&"))]
    if not target and name not in _WHOLE:
        if title.startswith("~"):
            title = title[1:].rstrip(".").rsplit(".", 1)[-1]
        is_call = name in ("func", "function", "meth", "method") and title and not title.endswith(")")
        title = title.lstrip(".") + ("()" if is_call else "")
    return [nodes.literal("", re.sub(r"[{}]", "", title) if name == "samp" else title)]


def split_target(text: str) -> tuple[str, str]:
    """Title and target of `Title <target>`. A bare target comes first, with an empty second part."""
    title, _, target = text.rpartition("<")
    if title.strip() and target.endswith(">") and ">" not in target[:-1]:
        return title.rstrip(), target[:-1].strip()
    return text, ""


def _reference(name: str, title: str, target: str, site: Site, page: str) -> nodes.Node:
    if name == "doc":
        there = site.page(target, page)
        if there not in site.titles:
            return nodes.Text(title or target.rsplit("/", 1)[-1])
        return _link(title or site.titles[there] or target, link(page, there))
    found = site.label(target)
    if not found:
        return nodes.Text(title or target)
    shown = title if title and name == "ref" else found.title or title
    return _link(shown or target, link(page, found.page, found.anchor))


def _external(address: str, caption: str, title: str, target: str) -> nodes.Node:
    value = target or title
    shown = title if target else caption.replace("%s", value, 1).replace("%%", "%")
    place = address.replace("%s", quote(value, safe="/:#?=&%@+,;~.-_!*'()", errors="replace"), 1).replace("%%", "%")
    return _link(shown or place, place)


def _link(title: str, address: str) -> nodes.Node:
    return nodes.reference("", "", nodes.Text(title), refuri=address)
