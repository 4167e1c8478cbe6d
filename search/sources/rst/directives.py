"""Directives without files. An unknown one is its text."""

import fnmatch
import re
from typing import Any, cast

from docutils import nodes
from docutils.parsers.rst import directives, roles

from search.sources.rst.markup import Content, Markup, bold, code_block
from search.sources.rst.objects import Description, Glossary, Module, anchor_of, kind_of
from search.sources.rst.roles import role, split_target
from search.sources.rst.scope import TooMuch
from search.sources.rst.site import MAX_PARSED, link, plain

MAX_ENTRIES = 1000  # of a table of contents
MAX_NAMES = 10_000  # of directives and roles that docutils learns while the process lives
MAX_LINE = 10_000  # characters
MAX_WORD = 1000  # characters; docutils looks for markup from each of them on
MAX_BLOCK = 100_000  # characters of lines without an empty one among them
_LONG_WORD = re.compile(rf"(\S{{{MAX_WORD}}})\S+")
_LONG_LINE = re.compile(rf"^(.{{{MAX_LINE}}}).+", re.MULTILINE)
_DIRECTIVE = re.compile(r"\.\. +(?:\|[^|\n]+\| +)?([\w.:+-]{1,60}?) ?::")
_ROLE = re.compile(r":([\w.:+-]{1,60}):`|`:([\w.:+-]{1,60}):|\.\. +role:: *([\w.:+-]{1,60})")
_NAME = re.compile(r"[\w.:~!/-]+(?:\(.*\))?$")
_NOT_HTML = re.compile(r"\s*(?:not\s+(?:html|builder_html)|latex|pdf|man|text|texinfo|epub|gettext|builder_\w+)\s*$")


class Unknown(Description):
    """A thing, a place, or a directive that nobody knows: a name in code or a text, then the content."""

    def run(self) -> list[nodes.Node]:
        if self.name in self.scope.site.targets:
            return self.target(anchor_of(f"std-{self.name}-{self.argument}"))
        domain, kind = kind_of(self.name, self.scope)
        if kind and self.argument:
            return self.describe(domain, kind)
        is_auto = self.name.rpartition(":")[2].startswith("auto")  # the text is in the code: only the name is here
        on_first_line = self.block_text.partition("\n")[0].partition("::")[2].strip()
        is_name = is_auto or (on_first_line and _NAME.match(self.argument))
        head = [nodes.literal("", self.argument.lstrip("~!"))] if is_name else self.inline(self.argument)
        return [*([nodes.paragraph("", "", *head)] if self.argument else []), *self.parse()]


class Nothing(Markup):
    """A directive that shows nothing to search."""

    def run(self) -> list[nodes.Node]:
        return []


class Layout(Markup):
    """A content whose argument is for the layout."""

    def run(self) -> list[nodes.Node]:
        return self.parse()


class Titled(Markup):
    """A title in bold, then the content."""

    def run(self) -> list[nodes.Node]:
        return [*([bold(*self.inline(self.argument))] if self.arguments else []), *self.parse()]


class Note(Content):
    """An admonition whose title is its name."""

    def run(self) -> list[nodes.Node]:
        title = "See also" if self.name == "seealso" else self.name.capitalize()
        return [bold(nodes.Text(title)), *self.parse()]


class Change(Markup):
    """`versionadded` and its relatives, in the words of Sphinx."""

    def run(self) -> list[nodes.Node]:
        version, _, text = self.argument.partition(" ")
        verb = self.name.replace("-", "").removeprefix("version").capitalize()
        content = list(self.parse())
        first = nodes.paragraph("", f"{verb} {'since' if verb == 'Deprecated' else 'in'} version {version}".strip())
        if text:
            first += [nodes.Text(": "), *self.inline(text)]
        elif content and isinstance(content[0], nodes.paragraph):
            first += [nodes.Text(": "), *content.pop(0).children]
        return [first, *content]


class Code(Markup):
    """Code in the language of its argument."""

    def run(self) -> list[nodes.Node]:
        caption = self.options.get("caption", "")
        language = {"doctest": "python", "testcode": "python", "testoutput": "none"}.get(self.name)
        language = language or self.argument.partition(" ")[0] or self.scope.highlight
        return [*([bold(*self.inline(caption))] if caption else []), code_block("\n".join(self.content), language)]


class Only(Markup):
    """A content for some builders. It may have sections, so it becomes a part of the text around it."""

    def run(self) -> list[nodes.Node]:
        if not (self.name == "only" and _NOT_HTML.match(self.argument)):
            self.state.nested_parse(self.content, self.content_offset, match_titles=True)
        return []


class TocTree(Content):
    """Links to pages, as Sphinx lists them unless they are hidden."""

    def run(self) -> list[nodes.Node]:
        items = nodes.bullet_list()
        for line in [] if "hidden" in self.options else self.content[:MAX_ENTRIES]:
            for title, address in self._entries(*split_target(line.strip()))[:MAX_ENTRIES]:
                reference = nodes.reference("", "", nodes.Text(title), refuri=address)
                items += nodes.list_item("", nodes.paragraph("", "", reference))
        caption = self.options.get("caption")
        return [*([bold(nodes.Text(plain(caption)))] if caption else []), items] if items.children else []

    def _entries(self, title: str, target: str) -> list[tuple[str, str]]:
        """Titles and addresses of one line."""
        site, page = self.scope.site, self.scope.page
        title, target = (title, target) if target else ("", title)
        if "://" in target:
            return [(title or target, target)]
        name = site.page(target, page)
        names = [name] if name in site.titles else []
        if "glob" in self.options and re.search(r"[*?\[]", target):
            self.scope.spend(len(site.titles) // 20)
            names = [one for one in sorted(fnmatch.filter(site.titles, name)) if one != page]
        return [(title or site.titles[one] or one, link(page, one)) for one in names]


class Setting(Markup):
    """A directive that changes how the text behind it is read."""

    def run(self) -> list[nodes.Node]:
        scope, value = self.scope, self.argument
        if self.name == "highlight":
            scope.highlight = value.partition(" ")[0]
        elif self.name == "program":
            scope.program = "" if value == "None" else value.replace(" ", "-")
        elif self.name == "default-domain":
            scope.domain = value
        elif self.name == "default-role":
            scope.roles[""] = value.lower()
        elif found := re.match(r"([\w.:+-]+)\s*(?:\(\s*([\w.:+-]+)\s*\))?", value):
            scope.roles[found[1].lower()] = (found[2] or "inline").lower()
        return []


def prepare(source: str) -> str:
    """A text that docutils can parse: it knows all names, and its time grows with the length. Raises TooMuch."""
    for name in map(str.lower, _DIRECTIVE.findall(source)):
        if name not in _known_directives and len(_known_directives) < MAX_NAMES:
            directives.register_directive(name, Unknown)
            _known_directives.add(name)  # after it is: another thread may look here
    for names in _ROLE.findall(source):
        name = "".join(names).lower()
        if name not in _known_roles and len(_known_roles) < MAX_NAMES:
            roles.register_local_role(name, cast(Any, role))  # its stub wants links only
            _known_roles.add(name)
    if len(source) > MAX_PARSED or max(map(len, re.split(r"\n\s*\n", source))) > MAX_BLOCK:
        raise TooMuch(f"{len(source)} characters")
    return _LONG_LINE.sub(r"\1", _LONG_WORD.sub(r"\1", source))


_CLASSES: dict[type[Markup], str] = {
    Change: "versionadded versionchanged versionremoved deprecated "
    "version-added version-changed version-removed version-deprecated",
    Code: "code code-block code-tab doctest ipython ipython3 prompt sourcecode testcode testoutput",
    Content: "acks autosummary grid-item productionlist tabs tab-set",
    Glossary: "glossary",
    Layout: "rst-class cssclass hlist grid",
    Module: "module py:module js:module currentmodule py:currentmodule",
    Note: "attention caution danger error hint important note seealso tip warning",
    Nothing: "bibliography blockdiag codeauthor contents date digraph footer graph graphviz header iframe index "
    "inheritance-diagram mermaid moduleauthor raw sectionauthor section-numbering sectnum tabularcolumns target-notes "
    "testcleanup testsetup title todo todolist uml video youtube",
    Only: "only ifconfig",
    Setting: "default-domain default-role highlight program role",
    Titled: "admonition card centered collapse details dropdown grid-item-card group-tab panel rubric sidebar tab "
    "tab-item tabbed topic",
    TocTree: "toctree",
    Unknown: "class",  # of Python; docutils has another one
}
# docutils has these, but for `rst.includes`.
_known_directives = {
    "compound", "container", "csv-table", "epigraph", "figure", "highlights", "image", "include", "line-block",
    "list-table", "literalinclude", "math", "meta", "parsed-literal", "pull-quote", "replace", "table", "unicode",
}  # fmt: skip
_known_roles = {""}
roles.register_local_role("", cast(Any, role))
for _class, _names in _CLASSES.items():
    for _name in _names.split():
        _known_directives.add(_name)
        directives.register_directive(_name, _class)
# Their content is no prose.
VERBATIM = {name for one in (Code, Glossary, Nothing, TocTree) for name in _CLASSES[one].split()}
