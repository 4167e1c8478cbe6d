"""Directives: what `.. name:: argument` with its options and its content becomes. One that nobody knows is its text."""

import fnmatch
import re
from collections.abc import Callable
from typing import cast

from docutils import nodes
from docutils.parsers.rst import Directive, DirectiveError, states
from docutils.parsers.rst.directives import tables
from docutils.statemachine import StringList

from search.sources.rst import objects
from search.sources.rst.call import OPTION, Call, bold, code_block
from search.sources.rst.descriptions import described, glossary, module, of_code, target
from search.sources.rst.includes import include, literal_include, text_of
from search.sources.rst.roles import parted
from search.sources.rst.scope import BLOCK
from search.sources.rst.site import link, plain
from search.sources.rst.tables import CSVTable

MOST_ENTRIES = 1000  # of a table of contents
_NOT_HTML = re.compile(r"\s*(?:not\s+(?:html|builder_html)|latex|pdf|man|text|texinfo|epub|gettext|builder_\w+)\s*$")
_NAME = re.compile(r"[\w.:~!/-]+(?:\(.*\))?$")


def run(call: Call) -> list[nodes.Node]:
    """What a directive leaves on the page."""
    name = call.name
    if name in call.scope.site.targets:
        return [target(call, objects.anchor_of(f"std-{name}-{call.argument}"))] if call.argument else []
    domain, kind = objects.kind_of(name, call.scope, call.scope.site.objects)
    if kind:  # before the rest: `class` is one of Python's
        return described(call, domain, kind)
    if handler := _HANDLERS.get(name):
        return handler(call)
    if name.rsplit(":", 1)[-1].startswith("auto") and call.argument:
        return of_code(call)
    return _unknown(call)


def _unknown(call: Call) -> list[nodes.Node]:
    if call.has_argument and _NAME.match(call.argument):
        return [nodes.paragraph("", "", nodes.literal("", call.argument)), *call.parse(call.body)]
    return call.all()


def _nothing(call: Call) -> list[nodes.Node]:
    return []


def _content(call: Call) -> list[nodes.Node]:
    """The content; the argument is for the layout."""
    return call.parse(call.body if call.has_argument else StringList(call.head + call.body))


def _titled(call: Call) -> list[nodes.Node]:
    """The argument as a title in bold, then the content."""
    if not call.has_argument:
        return call.all()
    return [bold(*call.inline(call.argument)), *call.parse(call.body)]


def _note(call: Call) -> list[nodes.Node]:
    """An admonition whose title is its name."""
    return [bold(nodes.Text(NOTES[call.name])), *call.all()]


def _change(call: Call) -> list[nodes.Node]:
    """`versionadded` and its relatives, in the words of Sphinx."""
    said = CHANGES[call.name]
    version, _, text = call.argument.partition(" ")
    content = call.parse(call.body)
    first = nodes.paragraph("", f"{said} {version}".strip())
    if text:
        first += [nodes.Text(": "), *call.inline(text)]
    elif content and isinstance(content[0], nodes.paragraph):
        first += [nodes.Text(": "), *content.pop(0).children]
    return [first, *content]


def _code(call: Call) -> list[nodes.Node]:
    if "hide" in call.options:
        return []
    language = call.argument.split(" ")[0] if call.has_argument else ""
    if call.name in ("doctest", "testcode"):
        language = "python"
    elif call.name in ("math", "testoutput", "parsed-literal", "productionlist"):
        language = "latex" if call.name == "math" else ""
    body = list(call.body)
    if call.name in _ALL_CODE or not call.has_argument:
        body = [*call.head, *([""] if call.head and body else []), *body]
    elif len(call.head) > 1:
        body = [*call.head[1:], *body]
    code = code_block("\n".join(body), language or ("" if call.name in _ALL_CODE else call.scope.highlight))
    caption = call.options.get("caption")
    return [bold(*call.inline(caption)), code] if caption else [code]


def _tab_of_code(call: Call) -> list[nodes.Node]:
    language, _, title = call.argument.partition(" ")
    return [bold(nodes.Text(title or language)), code_block("\n".join(call.body), language)]


def _image(call: Call) -> list[nodes.Node]:
    image = nodes.image("", uri=call.argument.replace(" ", ""), alt=call.options.get("alt", ""))
    return [image, *call.parse(call.body)]


def _only(call: Call) -> list[nodes.Node]:
    """Content for some builders; sections may stand in it, so it becomes part of what is around."""
    if call.name == "only" and _NOT_HTML.match(call.argument):
        return []
    if call.body:
        call.state.nested_parse(call.body, call.offset, None, match_titles=True)
    return []


def _toctree(call: Call) -> list[nodes.Node]:
    """Links to pages, as Sphinx lists them unless they are hidden."""
    if "hidden" in call.options:
        return []
    site, page = call.scope.site, call.scope.page
    items = nodes.bullet_list()
    for line in [*(call.head if not call.has_argument else ()), *call.body][:MOST_ENTRIES]:
        title, target = parted(line.strip())
        title, target = (title, target) if target else ("", title)
        if "://" in target:
            entries = [(title or target, target)]
        elif "glob" in call.options and any(mark in target for mark in "*?["):
            call.scope.work.spend(BLOCK * len(site.titles))
            pattern = site.page(target, page)
            names = sorted(fnmatch.filter(site.titles, pattern))
            entries = [(site.titles[name] or name, link(page, name)) for name in names if name != page]
        else:
            name = site.page(target, page)
            if name not in site.titles:
                continue
            entries = [(title or site.titles[name] or name, link(page, name))]
        for shown, address in entries[:MOST_ENTRIES]:
            reference = nodes.reference("", "", nodes.Text(shown), refuri=address)
            items += nodes.list_item("", nodes.paragraph("", "", reference))
    caption = call.options.get("caption")
    return [
        *([bold(nodes.Text(plain(caption)))] if caption and items.children else []),
        *([items] if items.children else []),
    ]


def _table(call: Call) -> list[nodes.Node]:
    """A table that docutils makes of a list or of comma-separated values; one that it refuses stays text."""
    body = call.body if call.body or call.has_argument else call.head
    if call.name == "table":
        return _titled(call)
    if "file" in call.options:
        text = text_of(call, call.options["file"])
        body = StringList(text.split("\n") if text else [], source=call.scope.page)
    options = {name: call.options[name] for name in _TABLE_OPTIONS if name in call.options}
    kind: type[Directive] = CSVTable if call.name == "csv-table" else tables.ListTable
    title = [bold(*call.inline(call.argument))] if call.has_argument else []
    converted = {}
    for name, value in options.items():
        try:
            converted[name] = kind.option_spec[name](value) if kind.option_spec else value
        except (ValueError, TypeError, KeyError):
            continue
    machine = cast(states.RSTStateMachine, call.state.state_machine)
    try:
        made = kind(call.name, [], converted, body, call.line, call.offset, "\n".join(body), call.state, machine).run()
    except (DirectiveError, IndexError, ValueError):
        made = []
    if any(isinstance(node, nodes.table) for node in made):
        return [*title, *made]
    return [*title, *(call.parse(body) if call.name == "list-table" else [code_block("\n".join(body), "")])]


def _substitution(call: Call) -> list[nodes.Node]:
    """`replace` and `unicode`, which stand behind `|name|`."""
    if call.name == "unicode":
        return [nodes.Text(_characters(call.argument))]
    return call.inline(" ".join([call.argument, *(line.strip() for line in call.body)]).strip())


def _characters(codes: str) -> str:
    text = []
    for code in codes.partition(".. ")[0].split():
        found = re.fullmatch(r"(?:0x|\\?[xuU]\+?|&#x)?([0-9a-fA-F]{2,6});?", code)
        number = int(found[1], 16) if found and not code.isalpha() else 0
        text.append(chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else code)
    return "".join(text)


def _meta(call: Call) -> list[nodes.Node]:
    for line in [*call.head, *call.body] if not call.options else []:
        if found := OPTION.match(line):
            call.scope.meta.setdefault(found[1].split(" ")[0].lower(), (found[2] or "").strip())
    for name, value in call.options.items():
        call.scope.meta.setdefault(name.split(" ")[0], value)
    return []


def _role(call: Call) -> list[nodes.Node]:
    found = re.match(r"([\w.:+-]+)\s*(?:\(\s*([\w.:+-]+)\s*\))?", call.argument)
    if found:
        call.scope.roles[found[1].lower()] = (found[2] or "inline").lower()
    return []


def _default_role(call: Call) -> list[nodes.Node]:
    call.scope.roles[""] = call.argument.lower()
    return []


def _highlight(call: Call) -> list[nodes.Node]:
    call.scope.highlight = call.argument.split(" ")[0]
    return []


def _program(call: Call) -> list[nodes.Node]:
    call.scope.program = "" if call.argument == "None" else re.sub(r"\s+", "-", call.argument)
    return []


def _domain(call: Call) -> list[nodes.Node]:
    call.scope.domain = call.argument
    return []


def _names(call: Call) -> list[nodes.Node]:
    """A list of names, as `autosummary` has it."""
    names = [line.strip().lstrip("~!") for line in [*([] if call.has_argument else call.head), *call.body]]
    items = [nodes.list_item("", nodes.paragraph("", "", nodes.literal("", name))) for name in names if name]
    return [nodes.bullet_list("", *items)] if items else []


NOTES = {
    **{name: name.capitalize() for name in ("note", "warning", "tip", "hint", "important", "caution", "danger")},
    "attention": "Attention",
    "error": "Error",
    "seealso": "See also",
}
CHANGES = {
    "versionadded": "Added in version",
    "version-added": "Added in version",
    "versionchanged": "Changed in version",
    "version-changed": "Changed in version",
    "deprecated": "Deprecated since version",
    "version-deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
    "version-removed": "Removed in version",
}
_ALL_CODE = frozenset(["parsed-literal", "doctest", "testcode", "testoutput", "math", "productionlist"])
_TABLE_OPTIONS = ("header-rows", "stub-columns", "header", "delim", "quote", "escape", "keepspace", "encoding")
_HANDLERS: dict[str, Callable[[Call], list[nodes.Node]]] = {
    name: handler
    for names, handler in [
        (" ".join(NOTES), _note),
        (" ".join(CHANGES), _change),
        ("code code-block sourcecode prompt ipython ipython3", _code),
        (" ".join(_ALL_CODE), _code),
        ("code-tab", _tab_of_code),
        ("admonition topic sidebar rubric centered dropdown details collapse compound", _titled),
        ("tab tab-item group-tab tabbed card grid-item-card panel", _titled),
        ("container class rst-class cssclass grid grid-item tabs tab-set hlist acks", _content),
        ("epigraph highlights pull-quote", _content),
        ("index contents sectnum section-numbering tabularcolumns header footer title target-notes date", _nothing),
        ("codeauthor sectionauthor moduleauthor todo todolist testsetup testcleanup changelog_imports", _nothing),
        ("raw graphviz digraph graph mermaid uml blockdiag inheritance-diagram", _nothing),
        ("bibliography youtube video iframe", _nothing),
        ("csv-table list-table flat-table table", _table),
        ("image figure", _image),
        ("only ifconfig", _only),
        ("module py:module js:module currentmodule py:currentmodule", module),
        ("replace unicode", _substitution),
        ("autosummary", _names),
        ("default-domain", _domain),
        ("default-role", _default_role),
        ("glossary", glossary),
        ("highlight", _highlight),
        ("include", include),
        ("literalinclude", literal_include),
        ("meta", _meta),
        ("program", _program),
        ("role", _role),
        ("toctree", _toctree),
    ]
    for name in names.split()
}
