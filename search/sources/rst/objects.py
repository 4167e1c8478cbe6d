"""Object descriptions: what is described, and the anchor that Sphinx gives it."""

import re
import unicodedata
from typing import NamedTuple

from docutils import nodes

from search.sources.rst.scope import Scope

_PYTHON = re.compile(r"([\w.]*\.)?(\w+)\s*(?:\[.*\])?\s*(?:\(.*\)\s*(?:->.*)?)?$", re.DOTALL)
_OPTION = re.compile(r"((?:/|--|-|\+)?[^\s=]+)(=?\s*.*)", re.DOTALL)
_C_NAME = re.compile(r"([A-Za-z_][\w.]*)\s*(?:\(|\[|:|=|$)")
_ID_BREAK, _ID_ENDS = re.compile(r"[^a-zA-Z0-9._]+"), re.compile(r"^[-0-9._]+|-+$")

_PYTHON_KINDS = frozenset(
    [
        "function",
        "data",
        "exception",
        "class",
        "method",
        "classmethod",
        "staticmethod",
        "attribute",
        "property",
        "decorator",
        "decoratormethod",
        "type",
    ]
)
_KINDS = {
    "py": _PYTHON_KINDS,
    "js": frozenset(["function", "method", "class", "data", "attribute"]),
    "c": frozenset(["function", "member", "var", "macro", "struct", "union", "enum", "enumerator", "type"]),
    "cpp": frozenset(
        [
            "class",
            "struct",
            "function",
            "member",
            "var",
            "type",
            "concept",
            "enum",
            "enum-struct",
            "enum-class",
            "enumerator",
            "union",
            "alias",
        ]
    ),
    "http": frozenset(["get", "post", "put", "patch", "delete", "head", "options", "trace", "copy", "connect", "any"]),
    "rst": frozenset(["directive", "role", "directive:option"]),
    "std": frozenset(["option", "cmdoption", "envvar", "confval"]),
}
_SAID = {"staticmethod": "static ", "classmethod": "classmethod ", "class": "class ", "exception": "exception "}


class described(nodes.General, nodes.Element):
    """Something with a signature. Its attributes: `called`, what it is named; `signatures`; and `ids`."""


class Signed(NamedTuple):
    """A signature that was read: the name in full, how it is shown, and the anchor (empty when there is none).

    `owner` is the class that names below it belong to.
    """

    name: str
    shown: str
    anchor: str
    owner: str = ""


def kind_of(directive: str, scope: Scope, objects: frozenset[str]) -> tuple[str, str]:
    """Domain and kind of the things that a directive describes; empty when it describes none."""
    if directive in objects:
        return "std", directive
    domain, _, kind = directive.partition(":")
    if kind:
        return (domain, kind) if kind in _KINDS.get(domain, ()) else ("", "")
    for domain in (scope.domain, "std"):
        if directive in _KINDS.get(domain, ()):
            return domain, directive
    return "", ""


def read(domain: str, kind: str, signature: str, scope: Scope) -> Signed:
    """A signature; one that cannot be read has a name and no anchor. Raises TooMuch."""
    scope.work.spend(len(signature) ** 2 // 20)  # brackets may be looked for from each character on
    signature = " ".join(signature.replace("\\", "").split())
    bare = Signed(signature, signature, "")
    if domain == "py":
        return _python(kind, signature, scope) or bare
    if domain == "js":
        name = signature.partition("(")[0].split(" ")[-1].strip()
        full = ".".join([*scope.classes[-1:], name])
        owner = full if kind == "class" else ""
        return Signed(full, signature, anchor_of(f"{scope.module}.{full}" if scope.module else full), owner)
    if domain == "c":
        found = _C_NAME.search(signature.partition("(")[0].strip())
        return Signed(found[1], signature, anchor_of(f"c.{found[1]}")) if found else bare
    if domain == "http":
        path = re.sub(r"[{}]", "", re.sub(r"[<>:/]", "-", signature))
        return Signed(f"{kind.upper()} {signature}", f"{kind.upper()} {signature}", f"{kind}-{path}")
    if domain == "rst":
        name = signature.strip(".: ").partition("::")[0]
        return Signed(signature, signature, anchor_of(f"{kind.replace(':', '-')}-{name}"))
    if kind in ("option", "cmdoption"):
        return _option(signature, scope) or bare
    if kind == "django-admin":  # as Django's own documentation defines it: options below are the command's
        scope.program = signature.split(" ")[0]
        return Signed(
            f"django-admin {scope.program}", f"django-admin {signature}", anchor_of(f"{kind}-{scope.program}")
        )
    if domain == "std":
        return Signed(signature, signature, anchor_of(f"{kind}-{signature}"))
    return bare


def anchor_of(text: str) -> str:
    """An id as Sphinx makes it for things: letters, digits, dots and underscores stay, and so does their case."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return _ID_ENDS.sub("", _ID_BREAK.sub("-", " ".join(ascii_only.split())))


def _python(kind: str, signature: str, scope: Scope) -> Signed | None:
    found = _PYTHON.match(signature)
    if not found:
        return None
    prefix, name = (found[1] or "").rstrip("."), found[2]
    around = scope.classes[-1] if scope.classes else ""
    if around and (prefix == around or prefix.startswith(f"{around}.")):
        full = f"{prefix}.{name}"
    else:
        full = ".".join(part for part in (around, prefix, name) if part)
    whole = f"{scope.module}.{full}" if scope.module else full
    arguments = signature[found.end(2) :]
    called = full if around else whole
    if kind in ("decorator", "decoratormethod"):
        called = f"@{called}"
    owner = full if kind in ("class", "exception") else full.rpartition(".")[0] if prefix else ""
    return Signed(called, f"{_SAID.get(kind, '')}{called}{arguments}", anchor_of(whole), owner)


def _option(signature: str, scope: Scope) -> Signed | None:
    found = _OPTION.match(signature)
    if not found:
        return None
    name = found[1].removesuffix("[").rstrip(",")
    prefix = "-".join(filter(None, ["cmdoption", scope.program, "" if name.startswith(("-", "/")) else "arg"]))
    return Signed(signature, signature, anchor_of(f"{prefix}-{name}"))
