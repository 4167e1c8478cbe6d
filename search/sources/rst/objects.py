"""Object descriptions: functions, classes, settings and the like as sections, with the anchors of Sphinx."""

import re
from typing import NamedTuple

from docutils import nodes

from docsite.core.unicode.normalization import to_ascii
from search.sources.rst.base import BaseDirective, ContentDirective, register
from search.sources.rst.object_order import title_of
from search.sources.rst.scope import Scope

MAX_SIGNATURE = 5000  # characters

_PYTHON = re.compile(r"([\w.]*\.)?(\w+)\s*(?:\[.*\])?\s*(?:\(.*\)\s*(?:->.*)?)?$", re.DOTALL)
_OPTION = re.compile(r"[^\s=]*\w[^\s=]*")
_C_NAME = re.compile(r"(?<![\w.])(?:(?![A-Za-z_])[\w.])*+([A-Za-z_][\w.]*+)\s*+(?:\(|\[|:|=|$)")
_ID_BREAK, _ID_ENDS = re.compile(r"[^a-zA-Z0-9._]+"), re.compile(r"^[-0-9._]+|-+$")
_CODE = frozenset([
    "attribute", "class", "classmethod", "data", "decorator", "decoratormethod", "enum", "enumerator", "exception",
    "function", "macro", "member", "method", "property", "staticmethod", "struct", "type", "union", "var",
])  # fmt: skip
_KINDS = {
    **dict.fromkeys(["py", "js", "c"], _CODE),
    "http": frozenset(["get", "post", "put", "patch", "delete"]),
    "rst": frozenset(["directive", "role"]),
    "std": frozenset(["option", "cmdoption", "envvar", "confval"]),
}
_PREFIXES = {"staticmethod": "static ", "classmethod": "classmethod ", "class": "class ", "exception": "exception "}


class Signature(NamedTuple):
    """The full name, the text to show, the anchor (may be empty), and the class that names in the content belong to."""

    name: str
    text: str
    anchor: str
    class_name: str = ""


def kind_of(directive: str, scope: Scope) -> tuple[str, str]:
    """Domain and kind of the objects that a directive describes; empty when it describes none."""
    if directive in scope.site.object_types:
        return "project", directive
    domain, _, kind = directive.rpartition(":")
    if kind.endswith("-option"):  # a project's own, such as Django's `django-admin-option`
        return "std", "option"
    domain = domain or ("std" if kind in _KINDS["std"] else scope.domain)
    return (domain, kind) if kind in _KINDS.get(domain, ()) else ("", "")


def parse_signature(domain: str, kind: str, text: str, scope: Scope) -> Signature:
    """A signature. It has no anchor if its form is unknown. Raises PageTooComplex."""
    text = nodes.whitespace_normalize_name(text[:MAX_SIGNATURE].replace("\\", ""))
    scope.spend(len(text) ** 2 // 2000)  # the search for closing brackets is quadratic
    first = re.split(r"[\s(]", text)[0]
    if domain in ("py", "js") and (python := _PYTHON.match(text)):
        return _python(kind, (python[1] or "").rstrip("."), python[2], text[python.end(2) :], scope)
    if domain == "c" and (c := _C_NAME.search(text.partition("(")[0].strip())):
        return Signature(c[1], text, make_anchor(f"c.{c[1]}"))
    if domain == "http":
        text = f"{kind.upper()} {text}"
        return Signature(text, text, re.sub(r"[{}]", "", re.sub(r"[<>:/ ]", "-", f"{kind} {first}")))
    if kind in ("option", "cmdoption") and (option := _OPTION.match(text)):
        name = option[0].removesuffix("[").rstrip(",")
        parts = ["cmdoption", scope.program, "" if name.startswith(("-", "/")) else "arg", name]
        return Signature(text, text, make_anchor("-".join(filter(None, parts))))
    if kind == "django-admin":  # of Django's own documentation: options below are the command's
        scope.program, text = first, f"django-admin {text}"
    named = {
        "project": first,  # most types that a project defines use the first word as the name
        "rst": text.strip(".: ").partition("::")[0],
        "std": "" if kind.endswith("option") else text,
    }.get(domain, "")
    return Signature(text, text, make_anchor(f"{kind}-{named}") if named else "")


def make_anchor(text: str) -> str:
    """The id of an object as Sphinx makes it: letters with their case, digits, dots and underscores stay."""
    return _ID_ENDS.sub("", _ID_BREAK.sub("-", nodes.whitespace_normalize_name(to_ascii(text))))


def _python(kind: str, prefix: str, name: str, arguments: str, scope: Scope) -> Signature:
    outer = scope.classes[-1] if scope.classes else ""
    is_complete = prefix == outer or prefix.startswith(f"{outer}.")
    full = ".".join(filter(None, ["" if is_complete else outer, prefix, name]))
    qualified = f"{scope.module}.{full}" if scope.module else full
    display_name = ("@" if kind.startswith("decorator") else "") + (full if outer else qualified)
    class_name = full if kind in ("class", "exception") else full.rpartition(".")[0] if prefix else ""
    return Signature(
        display_name, f"{_PREFIXES.get(kind, '')}{display_name}{arguments}", make_anchor(qualified), class_name
    )


def describe(directive: BaseDirective, domain: str, kind: str) -> list[nodes.Node]:
    """An object with its signatures, as a section with an anchor. Names in its content may belong to it."""
    scope = directive.scope
    module, scope.module = scope.module, directive.options.get("module", scope.module)
    lines = re.sub(r"\\\n\s*", "", "\n".join(directive.arguments)).split("\n")
    signatures = [parse_signature(domain, kind, line, scope) for line in lines]
    first = signatures[0]
    names = [signature.name for signature in signatures]
    section = directive.make_section(title_of(names), [signature.anchor for signature in signatures])
    section.attributes.update(is_bare=not directive.content, directive=directive.name, names_shown=names)
    texts = [signature.text for signature in signatures if signature.text != signature.name]
    section += [nodes.paragraph("", "", nodes.literal("", text)) for text in texts]
    scope.classes += [first.class_name] if first.class_name else []
    directive.parse(node=section)
    del scope.classes[len(scope.classes) - bool(first.class_name) :]
    scope.module = module
    return [section]


@register("module py:module js:module currentmodule py:currentmodule")
def change_module(directive: BaseDirective) -> list[nodes.Node]:
    """Names behind the directive belong to the module."""
    name = directive.scope.module = "" if directive.argument == "None" else directive.argument
    if directive.name.endswith("currentmodule"):
        return []
    return [*directive.make_target(make_anchor(f"module-{name}")), *directive.parse()]


@register("glossary", ContentDirective)
def render_glossary(directive: BaseDirective) -> list[nodes.Node]:
    """Terms that are not indented, each with its indented meaning: sections with anchors."""
    sections: list[nodes.Node] = []
    terms: list[str] = []
    lines = directive.content
    for start, line in enumerate(lines):
        if line[:1].strip() and not line.startswith(".. "):
            term = directive.parse_line(re.split(r"(?<!\s)\s+:\s+", line)[0])
            terms.append("".join(node.astext() for node in term))
        elif terms and line.strip():
            end = next((at for at in range(start, len(lines)) if lines[at][:1].strip()), None)
            meaning = lines[start:end]
            meaning.trim_left(min(len(one) - len(one.lstrip()) for one in meaning if one.strip()))
            section = directive.make_section([nodes.Text(terms[0])], [make_anchor(f"term-{terms[0]}")])
            section.attributes.update(is_bare=False, directive="term", names_shown=terms)
            section += [nodes.paragraph("", ", ".join(terms[1:]))] if terms[1:] else []
            directive.parse(meaning, section)
            sections.append(section)
            terms = []
    return sections
