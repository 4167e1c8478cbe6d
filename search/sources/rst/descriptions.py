"""Directives that describe things: functions, settings, terms. Each has an anchor, and names below may belong to it."""

import re

from docutils import nodes
from docutils.statemachine import StringList

from search.sources.rst import objects
from search.sources.rst.call import Call


def target(call: Call, anchor: str) -> nodes.target:
    """A place that has an anchor, as a label has."""
    target = nodes.target("", "", ids=[anchor] if anchor else [])
    if anchor:
        call.state.document.note_explicit_target(target)
    return target


def module(call: Call) -> list[nodes.Node]:
    call.scope.module = "" if call.argument == "None" else call.argument
    if call.name.endswith("currentmodule") or not call.argument or _unnoted(call):
        return []
    return [target(call, objects.anchor_of(f"module-{call.argument}")), *call.parse(call.body)]


def described(call: Call, domain: str, kind: str) -> list[nodes.Node]:
    """What has signatures and a content in which names belong to it."""
    scope = call.scope
    module = scope.module
    scope.module = call.options.get("module", module)
    lines = re.sub(r"\\\n\s*", "", "\n".join(call.head)).split("\n")
    signed = [objects.read(domain, kind, line, scope) for line in lines if line.strip()]
    if not signed:
        return call.parse(call.body)
    node = objects.described(called=signed[0].name, signatures=[one.shown for one in signed])
    if signed[0].anchor and not _unnoted(call):
        anchor = next((one.anchor for one in signed if one.anchor not in call.state.document.ids), "")
        if anchor:
            node["ids"] = [anchor]
            call.state.document.note_explicit_target(node)
    if signed[0].owner:
        scope.classes.append(signed[0].owner)
    call.parse(call.body, node)
    if signed[0].owner:
        scope.classes.pop()
    scope.module = module
    return [node]


def of_code(call: Call) -> list[nodes.Node]:
    """`autoclass` and its relatives, whose text is in the code: the name, and what the page says below it."""
    name = call.argument.lstrip("~!")
    scope = call.scope
    around = (scope.module, list(scope.classes))
    path = re.split(r"[\s(]", name)[0].replace("::", ".")
    if call.name.endswith("module"):
        scope.module, scope.classes = path, []
    elif call.name.endswith(("class", "exception")):
        scope.classes.append(path.removeprefix(f"{scope.module}."))
    content = call.parse(call.body)
    scope.module, scope.classes = around
    return [nodes.paragraph("", "", nodes.literal("", name)), *content]


def glossary(call: Call) -> list[nodes.Node]:
    """Terms at the margin, each with its indented meaning."""
    lines = call.body if call.has_argument or not call.head else StringList(call.head + call.body)
    found: list[nodes.Node] = []
    at = 0
    while at < len(lines):
        terms = []
        while at < len(lines) and lines[at].strip() and not lines[at].startswith(" "):
            if not lines[at].startswith(".. "):
                terms.append(re.split(r"\s+:\s+", lines[at])[0])
            at += 1
        start = at
        while at < len(lines) and (lines[at].startswith(" ") or not lines[at].strip()):
            at += 1
        meaning = lines[start:at]
        if terms and meaning:
            shown = ["".join(node.astext() for node in call.inline(term)) for term in terms]
            node = objects.described(called=shown[0], signatures=shown[1:], is_text=True)
            if (anchor := objects.anchor_of(f"term-{shown[0]}")) not in call.state.document.ids:
                node["ids"] = [anchor]
                call.state.document.note_explicit_target(node)
            margin = min((len(line) - len(line.lstrip()) for line in meaning if line.strip()), default=0)
            meaning.trim_left(margin)
            call.parse(meaning, node)
            found.append(node)
        elif not terms and at == start:
            at += 1
    return found


def _unnoted(call: Call) -> bool:
    return any(name in call.options for name in ("noindex", "no-index"))
