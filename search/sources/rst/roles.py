"""Roles: the nodes of `:name:`text``. One function serves all names. An unknown role is code, as most roles are."""

import re
from typing import Any
from urllib.parse import quote

from docutils import nodes
from docutils.parsers.rst.states import Inliner

from search.sources.rst.scope import Scope
from search.sources.rst.site import Site, relative_link

_PLAIN_TEXT = frozenset([
    "abbr", "abbreviation", "ac", "acronym", "eq", "guilabel", "index", "inline", "menuselection", "small", "sub",
    "subscript", "sup", "superscript", "term", "title",
])  # fmt: skip
_STYLES: dict[str, type[nodes.TextElement]] = {
    **dict.fromkeys(["emphasis", "dfn", "title-reference", "t", "cite"], nodes.emphasis),
    "strong": nodes.strong,
}
_WITHOUT_TARGET = frozenset(
    ["abbr", "abbreviation", "code", "command", "file", "guilabel", "kbd", "literal", "math", "samp"]
)
_STANDARDS = {
    "cve": "https://www.cve.org/CVERecord?id=CVE-{}",
    "cwe": "https://cwe.mitre.org/data/definitions/{}.html",
    "pep": "https://peps.python.org/pep-{:0>4}/",
    "rfc": "https://www.rfc-editor.org/rfc/rfc{}",
}


def role_function(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, options: Any = None, content: Any = None
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """The function that docutils calls for every role. The document is a `rst.Document`."""
    scope: Scope = inliner.document.scope  # type: ignore[attr-defined]
    name = name.lower()
    for _ in range(10):  # roles of the page may be based on each other
        name = scope.roles.get(name, name)
    return render_role(name or scope.site.default_role or "cite", text, scope.site, scope.page), []


def render_role(role: str, text: str, site: Site, page: str) -> list[nodes.Node]:
    """The nodes of a role and its text. The domain in front of a role's name makes no difference here."""
    text = text.replace("\x00", "")
    name = role.lower().rsplit(":", 1)[-1].removesuffix("-reference")
    if name == "raw":
        return []
    if name in _STYLES:
        return [_STYLES[name]("", text)]
    title, target = (text, "") if name in _WITHOUT_TARGET else split_target(text)
    if role in site.extlinks:
        return [_extlink(*site.extlinks[role], title, target)]
    if name in _STANDARDS and re.fullmatch(r"[\d-]+(?:#.*)?", target or title):
        number, hash_sign, anchor = (target or title).partition("#")
        address = _STANDARDS[name].format(number) + hash_sign + anchor
        return [_link(title if target else f"{name.upper()} {number}", address)]
    title = title.lstrip("!")
    if name in ("ref", "numref", "doc"):
        return [_cross_reference(name, title if target else "", target or title.strip(), site, page)]
    if name in _PLAIN_TEXT or name in _STANDARDS:
        return [nodes.Text(title.replace("-->", "→").replace("&", "" if name == "guilabel" else "&"))]
    if not target and name not in _WITHOUT_TARGET:
        if title.startswith("~"):
            title = title[1:].rstrip(".").rsplit(".", 1)[-1]
        is_call = name in ("func", "function", "meth", "method") and title and not title.endswith(")")
        title = title.lstrip(".") + ("()" if is_call else "")
    return [nodes.literal("", re.sub(r"[{}]", "", title) if name == "samp" else title)]


def split_target(text: str) -> tuple[str, str]:
    """Title and target of `Title <target>`. For a bare target: the text and an empty string."""
    title, _, target = text.rpartition("<")
    if title.strip() and target.endswith(">") and ">" not in target[:-1]:
        return title.rstrip(), target[:-1].strip()
    return text, ""


def _cross_reference(name: str, title: str, target: str, site: Site, page: str) -> nodes.Node:
    if name == "doc":
        target_page = site.resolve_page(target, page)
        if target_page not in site.titles:
            return nodes.Text(title or target.rsplit("/", 1)[-1])
        return _link(title or site.titles[target_page] or target, relative_link(page, target_page))
    label = site.find_label(target)
    if not label:
        return nodes.Text(title or target)
    text = title if title and name == "ref" else label.title or title
    return _link(text or target, relative_link(page, label.page, label.anchor))


def _extlink(address: str, caption: str, title: str, target: str) -> nodes.Node:
    value = target or title
    text = title if target else caption.replace("%s", value, 1).replace("%%", "%")
    address = address.replace("%s", quote(value, safe="/:#?=&%@+,;~.-_!*'()", errors="replace"), 1).replace("%%", "%")
    return _link(text or address, address)


def _link(title: str, address: str) -> nodes.Node:
    return nodes.reference("", "", nodes.Text(title), refuri=address)
