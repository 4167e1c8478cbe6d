"""Object descriptions: things of code and settings as sections, with the anchors of Sphinx."""

import re
import unicodedata
from typing import NamedTuple

from docutils import nodes

from search.sources.rst.markup import Content, Markup
from search.sources.rst.scope import Scope

MAX_SIGNATURE = 5000  # characters

_PYTHON = re.compile(r"([\w.]*\.)?(\w+)\s*(?:\[.*\])?\s*(?:\(.*\)\s*(?:->.*)?)?$", re.DOTALL)
_OPTION = re.compile(r"[^\s=]*\w[^\s=]*")
_C_NAME = re.compile(r"([A-Za-z_][\w.]*)\s*(?:\(|\[|:|=|$)")
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
    """A signature: the full name, the text to show, the anchor (may be empty), and the class of the names below."""

    name: str
    text: str
    anchor: str
    owner: str = ""


def kind_of(directive: str, scope: Scope) -> tuple[str, str]:
    """Domain and kind of the things that a directive describes; empty when it describes none."""
    if directive in scope.site.objects:
        return "project", directive
    domain, _, kind = directive.rpartition(":")
    if kind.endswith("-option"):  # a project's own, such as Django's `django-admin-option`
        return "std", "option"
    domain = domain or ("std" if kind in _KINDS["std"] else scope.domain)
    return (domain, kind) if kind in _KINDS.get(domain, ()) else ("", "")


def parse_signature(domain: str, kind: str, text: str, scope: Scope) -> Signature:
    """A signature. Without a known form it has no anchor. Raises TooMuch."""
    text = " ".join(text[:MAX_SIGNATURE].replace("\\", "").split())
    scope.spend(len(text) ** 2 // 2000)  # the search for closing brackets is quadratic
    first = re.split(r"[\s(]", text)[0]
    if domain in ("py", "js") and (found := _PYTHON.match(text)):
        return _python(kind, (found[1] or "").rstrip("."), found[2], text[found.end(2) :], scope)
    if domain == "c" and (found := _C_NAME.search(text.partition("(")[0].strip())):
        return Signature(found[1], text, anchor_of(f"c.{found[1]}"))
    if domain == "http":
        text = f"{kind.upper()} {text}"
        return Signature(text, text, re.sub(r"[{}]", "", re.sub(r"[<>:/ ]", "-", f"{kind} {first}")))
    if kind in ("option", "cmdoption") and (found := _OPTION.match(text)):
        name = found[0].removesuffix("[").rstrip(",")
        parts = ["cmdoption", scope.program, "" if name.startswith(("-", "/")) else "arg", name]
        return Signature(text, text, anchor_of("-".join(filter(None, parts))))
    if kind == "django-admin":  # of Django's own documentation: options below are the command's
        scope.program, text = first, f"django-admin {text}"
    named = {
        "project": first,  # a project's own types mostly take the first word for the name
        "rst": text.strip(".: ").partition("::")[0],
        "std": "" if kind.endswith("option") else text,
    }.get(domain, "")
    return Signature(text, text, anchor_of(f"{kind}-{named}") if named else "")


def anchor_of(text: str) -> str:
    """An id of a thing as Sphinx makes it: letters, their case, digits, dots and underscores stay."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return _ID_ENDS.sub("", _ID_BREAK.sub("-", " ".join(ascii_only.split())))


def _python(kind: str, prefix: str, name: str, arguments: str, scope: Scope) -> Signature:
    around = scope.classes[-1] if scope.classes else ""
    is_inside = prefix == around or prefix.startswith(f"{around}.")
    full = ".".join(filter(None, ["" if is_inside else around, prefix, name]))
    whole = f"{scope.module}.{full}" if scope.module else full
    shown = ("@" if kind.startswith("decorator") else "") + (full if around else whole)
    owner = full if kind in ("class", "exception") else full.rpartition(".")[0] if prefix else ""
    return Signature(shown, f"{_PREFIXES.get(kind, '')}{shown}{arguments}", anchor_of(whole), owner)


class Description(Markup):
    """A thing with its signatures, as a section with an anchor. Names in its content may belong to it."""

    def describe(self, domain: str, kind: str) -> list[nodes.Node]:
        scope = self.scope
        module, scope.module = scope.module, self.options.get("module", scope.module)
        lines = re.sub(r"\\\n\s*", "", "\n".join(self.arguments)).split("\n")
        signatures = [parse_signature(domain, kind, line, scope) for line in lines]
        first = signatures[0]
        section = self.section(nodes.literal("", first.name), [one.anchor for one in signatures])
        shown = [one.text for one in signatures if one.text != first.name]
        section += [nodes.paragraph("", "", nodes.literal("", text)) for text in shown]
        scope.classes += [first.owner] if first.owner else []
        self.parse(node=section)
        del scope.classes[len(scope.classes) - bool(first.owner) :]
        scope.module = module
        return [section]


class Module(Markup):
    """`module` and `currentmodule`: names that follow belong to it."""

    def run(self) -> list[nodes.Node]:
        name = self.scope.module = "" if self.argument == "None" else self.argument
        return [] if self.name.endswith("currentmodule") else [*self.target(anchor_of(f"module-{name}")), *self.parse()]


class Glossary(Content):
    """Terms at the margin, each with its indented meaning: sections with anchors."""

    def run(self) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        terms: list[str] = []
        for at, line in enumerate(self.content):
            if line[:1].strip() and not line.startswith(".. "):
                terms.append("".join(node.astext() for node in self.inline(re.split(r"\s+:\s+", line)[0])))
            elif terms and line.strip():
                end = next((to for to in range(at, len(self.content)) if self.content[to][:1].strip()), None)
                meaning = self.content[at:end]
                meaning.trim_left(min(len(one) - len(one.lstrip()) for one in meaning if one.strip()))
                section = self.section(nodes.Text(terms[0]), [anchor_of(f"term-{terms[0]}")])
                section += [nodes.paragraph("", ", ".join(terms[1:]))] if terms[1:] else []
                self.parse(meaning, section)
                found.append(section)
                terms = []
        return found
