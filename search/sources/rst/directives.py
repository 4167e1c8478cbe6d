"""The directives that read no file. An unknown directive becomes its text."""

import fnmatch
import re
from typing import Any, cast

from docutils import nodes
from docutils.parsers.rst import directives, roles

from search.sources.rst import objects
from search.sources.rst.base import (
    OTHER,
    BaseDirective,
    ContentDirective,
    bold_title,
    code_block,
    names_of,
    register,
)
from search.sources.rst.roles import role_function, split_target
from search.sources.rst.scope import PageTooComplex
from search.sources.rst.site import MAX_PARSED, relative_link, strip_markup

MAX_ENTRIES = 1000  # of a table of contents
MAX_NAMES = 10_000  # of directives and roles that are registered while the process lives
MAX_LINE = 10_000  # characters
MAX_WORD = 1000  # characters; docutils looks for markup from each of them on
MAX_BLOCK = 100_000  # characters of lines without an empty line between them
_LONG_WORD = re.compile(rf"(\S{{{MAX_WORD}}})\S+")
_LONG_LINE = re.compile(rf"^(.{{{MAX_LINE}}}).+", re.MULTILINE)
_DIRECTIVE = re.compile(r"\.\. +(?:\|[^|\n]+\| +)?([\w.:+-]{1,60}?) ?::")
_ROLE = re.compile(r":([\w.:+-]{1,60}):`|`:([\w.:+-]{1,60}):|\.\. +role:: *([\w.:+-]{1,60})")
_NAME = re.compile(r"[\w.:~!/-]+(?:\(.*\))?$")
_NEW_ROLE = re.compile(r"([\w.:+-]+)\s*(?:\(\s*([\w.:+-]+)\s*\))?")
_NOT_HTML = re.compile(r"\s*(?:not\s+(?:html|builder_html)|latex|pdf|man|text|texinfo|epub|gettext|builder_\w+)\s*$")
# Words in the names of directives that projects define for code, such as `console`.
_CODE_WORDS = frozenset([
    "bash", "cmd", "code", "console", "css", "html", "javascript", "json", "listing", "output", "powershell", "python",
    "shell", "snippet", "source", "sql", "terminal", "toml", "xml", "yaml",
])  # fmt: skip
_PROMPT = re.compile(r"(?:[$%>#]|>>>|In \[\d+\]:|(?:[A-Za-z]:|\.\.\.)\\[^>]*>) \S")
_LANGUAGES = {"console": "console", "doctest": "python", "testcode": "python", "testoutput": "none"}


@register(f"class {OTHER}")  # docutils has another `class`; here it is that of Python
def render_unknown(directive: BaseDirective) -> list[nodes.Node]:
    """An object, a target, or an unknown directive: its argument as code or text, then its content."""
    if directive.name in directive.scope.site.crossref_types:
        return directive.make_target(objects.make_anchor(f"std-{directive.name}-{directive.argument}"))
    domain, kind = objects.kind_of(directive.name, directive.scope)
    if kind and directive.argument:
        return objects.describe(directive, domain, kind)
    is_bare = bool(directive.content) and not directive.argument
    if is_bare and (names_code(directive.name) or _PROMPT.match(directive.content[0])):
        return list(render_code(directive))
    # Of autodoc only the name is here: its text is in the code.
    is_auto = directive.name.rpartition(":")[2].startswith("auto")
    on_first_line = directive.block_text.partition("\n")[0].partition("::")[2].strip()
    is_name = is_auto or (on_first_line and _NAME.match(directive.argument))
    head = [nodes.literal("", directive.argument.lstrip("~!"))] if is_name else directive.parse_line(directive.argument)
    label = directive.argument if is_name and not is_auto and not directive.content else ""
    classes = directive.scope.classes
    if directive.name == "automodule":
        directive.scope.module = directive.argument
    elif directive.name in ("autoclass", "autoexception"):  # what its content describes belongs to it
        classes = [*classes, directive.argument.partition("(")[0].removeprefix(f"{directive.scope.module}.")]
    directive.scope.classes, outer = classes, directive.scope.classes
    content = directive.parse()
    directive.scope.classes = outer
    return [*([nodes.paragraph("", "", *head, label=label)] if directive.argument else []), *content]


def names_code(directive: str) -> bool:
    """Whether the name of a directive says that its content is code."""
    return not _CODE_WORDS.isdisjoint(re.split(r"[-_:.+]", directive.lower()))


@register(
    "bibliography blockdiag codeauthor contents date digraph footer graph graphviz header iframe index "
    "inheritance-diagram mermaid moduleauthor raw sectionauthor section-numbering sectnum tabularcolumns target-notes "
    "testcleanup testsetup title todo todolist uml video youtube"
)
def hide(directive: BaseDirective) -> list[nodes.Node]:
    return []


@register("rst-class cssclass hlist grid")  # the argument is for the layout
@register("acks autosummary grid-item productionlist tabs tab-set", ContentDirective)
def render_content(directive: BaseDirective) -> list[nodes.Node]:
    return directive.parse()


@register(
    "admonition card centered collapse details dropdown grid-item-card group-tab panel rubric sidebar tab tab-item "
    "tabbed topic"
)
def render_titled_block(directive: BaseDirective) -> list[nodes.Node]:
    return [*bold_title(*directive.parse_line(directive.argument)), *directive.parse()]


@register("attention caution danger error hint important note seealso tip warning", ContentDirective)
def render_admonition(directive: BaseDirective) -> list[nodes.Node]:
    """The name of the directive as the title, then the content."""
    title = "See also" if directive.name == "seealso" else directive.name.capitalize()
    return [*bold_title(nodes.Text(title)), *directive.parse()]


@register(
    "versionadded versionchanged versionremoved deprecated "
    "version-added version-changed version-removed version-deprecated"
)
def render_version_change(directive: BaseDirective) -> list[nodes.Node]:
    """The sentence that Sphinx writes, for example `Added in version 2.0: The door.`"""
    version, _, text = directive.argument.partition(" ")
    verb = directive.name.replace("-", "").removeprefix("version").capitalize()
    content = list(directive.parse())
    first = nodes.paragraph("", f"{verb} {'since' if verb == 'Deprecated' else 'in'} version {version}".strip())
    if text:
        first += [nodes.Text(": "), *directive.parse_line(text)]
    elif content and isinstance(content[0], nodes.paragraph):
        first += [nodes.Text(": "), *content.pop(0).children]
    return [first, *content]


@register("code code-block code-tab doctest ipython ipython3 prompt sourcecode testcode testoutput")
def render_code(directive: BaseDirective) -> list[nodes.Node]:
    """Code in the language of the argument, with its caption above."""
    caption = directive.parse_line(directive.options.get("caption", ""))
    language = _LANGUAGES.get(directive.name) or directive.argument.partition(" ")[0] or directive.scope.highlight
    return [*bold_title(*caption), code_block("\n".join(directive.content), language)]


@register("only ifconfig")
def render_only(directive: BaseDirective) -> list[nodes.Node]:
    """The content if it is for HTML. It may have sections, which become sections of the page."""
    if not (directive.name == "only" and _NOT_HTML.match(directive.argument)):
        directive.state.nested_parse(directive.content, directive.content_offset, match_titles=True)
    return []


@register("toctree", ContentDirective)
def render_toctree(directive: BaseDirective) -> list[nodes.Node]:
    """A list of links to pages, unless it is hidden."""
    items = nodes.bullet_list()
    for line in [] if "hidden" in directive.options else directive.content[:MAX_ENTRIES]:
        for title, address in _toctree_entries(directive, *split_target(line.strip()))[:MAX_ENTRIES]:
            reference = nodes.reference("", "", nodes.Text(title), refuri=address)
            items += nodes.list_item("", nodes.paragraph("", "", reference))
    caption = nodes.Text(strip_markup(directive.options.get("caption", "")))
    return [*bold_title(caption), items] if items.children else []


def _toctree_entries(directive: BaseDirective, title: str, target: str) -> list[tuple[str, str]]:
    """Titles and addresses of the pages that one line names."""
    site, page = directive.scope.site, directive.scope.page
    title, target = (title, target) if target else ("", title)
    if "://" in target:
        return [(title or target, target)]
    name = site.resolve_page(target, page)
    names = [name] if name in site.titles else []
    if "glob" in directive.options and re.search(r"[*?\[]", target):
        directive.scope.spend(len(site.titles) // 20)
        names = [other for other in sorted(fnmatch.filter(site.titles, name)) if other != page]
    return [(title or site.titles[name] or name, relative_link(page, name)) for name in names]


@register("default-domain default-role highlight program role")
def change_scope(directive: BaseDirective) -> list[nodes.Node]:
    """Change how the text behind the directive is read."""
    scope, value = directive.scope, directive.argument
    if directive.name == "highlight":
        scope.highlight = value.partition(" ")[0]
    elif directive.name == "program":
        scope.program = "" if value == "None" else value.replace(" ", "-")
    elif directive.name == "default-domain":
        scope.domain = value
    elif directive.name == "default-role":
        scope.roles[""] = value.lower()
    elif role := _NEW_ROLE.match(value):
        scope.roles[role[1].lower()] = (role[2] or "inline").lower()
    return []


def prepare(source: str) -> str:
    """Make docutils know all names in a text, and cut long lines and words. Raises PageTooComplex.

    The time that docutils takes then grows with the length of the text only.
    """
    for name in map(str.lower, _DIRECTIVE.findall(source)):
        if name not in _known_directives and len(_known_directives) < MAX_NAMES:
            directives.register_directive(name, BaseDirective)
            _known_directives.add(name)  # only now: another thread may look here
    for names in _ROLE.findall(source):
        name = "".join(names).lower()
        if name not in _known_roles and len(_known_roles) < MAX_NAMES:
            roles.register_local_role(name, cast(Any, role_function))  # the stub of docutils is too narrow
            _known_roles.add(name)
    if len(source) > MAX_PARSED or max(map(len, re.split(r"\n\s*\n", source))) > MAX_BLOCK:
        raise PageTooComplex(f"{len(source)} characters")
    return _LONG_LINE.sub(r"\1", _LONG_WORD.sub(r"\1", source))


# docutils has the names of this list, and `rst.includes` replaces some of them.
_known_directives = names_of() | {
    "compound", "container", "csv-table", "epigraph", "figure", "highlights", "image", "include", "line-block",
    "list-table", "literalinclude", "math", "meta", "parsed-literal", "pull-quote", "replace", "table", "unicode",
}  # fmt: skip
_known_roles = {""}
roles.register_local_role("", cast(Any, role_function))
VERBATIM = names_of(render_code, objects.render_glossary, hide, render_toctree)  # their content is not prose
