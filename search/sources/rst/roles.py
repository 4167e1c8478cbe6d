"""Roles: what `:name:`text`` shows. One that nobody knows shows its text."""

import re
from urllib.parse import quote

from docutils import nodes

from search.sources.rst.site import Site, link

_CODE = frozenset([
    "any", "async", "attr", "attribute", "autolink", "bash", "c", "class", "cli", "code", "command", "confval",
    "const", "data", "deco", "decorator", "delete", "djadmin", "enum", "envvar", "exc", "exception", "expr",
    "file", "fixture", "func", "function", "get", "globalvar", "head", "hook", "http", "interface", "kbd",
    "literal", "lookup", "macro", "mailheader", "makevar", "member", "meth", "method", "mimetype", "mod",
    "module", "newsgroup", "obj", "option", "options", "package", "param", "parameter", "patch", "post",
    "program", "property", "put", "py", "pyobj", "regexp", "samp", "setting", "src", "struct", "tag",
    "templatefilter", "templatetag", "tfilter", "token", "ttag", "type", "union", "var", "variable", "widget",
])  # fmt: skip
_PLAIN = frozenset([
    "abbr", "abbreviation", "ac", "acronym", "guilabel", "index", "menuselection", "raw-text", "small", "term",
    "title",
])  # fmt: skip
_STYLES: dict[str, type[nodes.TextElement]] = {
    "emphasis": nodes.emphasis,
    "dfn": nodes.emphasis,
    "title-reference": nodes.emphasis,
    "t": nodes.emphasis,
    "cite": nodes.emphasis,
    "strong": nodes.strong,
}
_STANDARDS = {
    "cve": "https://www.cve.org/CVERecord?id=CVE-{}",
    "cwe": "https://cwe.mitre.org/data/definitions/{}.html",
    "pep": "https://peps.python.org/pep-{:0>4}/",
    "rfc": "https://www.rfc-editor.org/rfc/rfc{}",
}
_NO_TARGET = frozenset(
    ["guilabel", "menuselection", "kbd", "file", "samp", "code", "literal", "math", "command", "program"]
)


def shown(role: str, text: str, site: Site, page: str) -> list[nodes.Node]:
    """The nodes that a role makes of its text. A domain in front of a role's name says nothing that matters here."""
    text = text.replace("\x00", "")
    name = role.lower().rsplit(":", 1)[-1]
    if role in site.extlinks:
        return [_external(*site.extlinks[role], *parted(text))]
    if name in ("ref", "numref", "doc"):
        return [_reference(name, text, site, page)]
    if name in ("sup", "superscript", "sub", "subscript"):
        return [nodes.Text(text)]
    if name in _STANDARDS or name in ("pep-reference", "rfc-reference"):
        return [_standard(name[:3], text)]
    if name in ("math", "eq"):
        return [nodes.literal("", text)] if name == "math" else [nodes.Text(text)]
    if name == "download":
        return [nodes.literal("", parted(text)[0])]
    if name in _STYLES:
        return [_STYLES[name]("", text)]
    title, target = (text, "") if name in _NO_TARGET else parted(text)
    if name == "menuselection":
        title = title.replace("-->", "→")
    elif name == "samp":
        title = re.sub(r"(?<!\\)[{}]", "", title).replace("\\", "")
    elif name == "guilabel":
        title = title.replace("&&", "\x01").replace("&", "").replace("\x01", "&")
    elif name in ("abbr", "abbreviation"):
        return [nodes.Text(text)]
    if name in _PLAIN:
        return [nodes.Text(title.lstrip("!"))]
    if name in _CODE or ":" in role:
        return [nodes.literal("", _called(name, title, bool(target)))]
    return [nodes.Text(title.lstrip("!"))]


def parted(text: str) -> tuple[str, str]:
    """Title and target of `Title <target>`; a target alone is both, and the second is then empty."""
    title, _, target = text.rpartition("<")
    if title.strip() and not title.endswith("\x00") and target.endswith(">") and ">" not in target[:-1]:
        return title.rstrip(), target[:-1].strip()
    return text, ""


def _called(name: str, title: str, has_target: bool) -> str:
    """A name in code as Sphinx shows it: `~a.b.c` is `c`, and what can be called has parentheses."""
    title = title.lstrip("!")
    if has_target:
        return title
    if title.startswith("~"):
        title = title[1:].rstrip(".").rsplit(".", 1)[-1]
    title = title.lstrip(".")
    calls = name in ("func", "function", "meth", "method")
    return f"{title}()" if calls and title and not title.endswith(")") else title


def _reference(name: str, text: str, site: Site, page: str) -> nodes.Node:
    title, target = parted(text.lstrip("!"))
    target = target or text.strip()
    given = title if title != target else ""
    if name == "doc":
        there = site.page(target, page)
        if there not in site.titles:
            return nodes.Text(given or target.rsplit("/", 1)[-1])
        return _link(given or site.titles[there] or target, link(page, there))
    found = site.label(target)
    if not found:
        return nodes.Text(given or target)
    shown = found.title if name == "numref" or not given else given
    return _link(shown or given or target, link(page, found.page, found.anchor))


def _standard(kind: str, text: str) -> nodes.Node:
    title, target = parted(text)
    number, _, anchor = (target or text).lstrip("!").strip().partition("#")
    if not re.fullmatch(r"[\d-]+", number):
        return nodes.Text(title)
    place = _STANDARDS[kind].format(number)
    return _link(title if target else f"{kind.upper()} {number}", f"{place}#{anchor}" if anchor else place)


def _external(address: str, caption: str, title: str, target: str) -> nodes.Node:
    value = target or title
    said = title if target else caption.replace("%s", value, 1).replace("%%", "%") if caption else ""
    place = address.replace("%s", quote(value, safe="/:#?=&%@+,;~.-_!*'()", errors="replace"), 1).replace("%%", "%")
    return _link(said or place, place)


def _link(title: str, address: str) -> nodes.Node:
    return nodes.reference("", "", nodes.Text(title), refuri=address)
