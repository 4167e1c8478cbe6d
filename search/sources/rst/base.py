"""One docutils directive for all names. A table says which function renders which name."""

from collections.abc import Callable, Iterable
from typing import Any, cast

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList

from search.sources.rst.scope import Scope

OTHER = "*"  # stands for every name that no function is for


class _AnyOption(dict[str, Any]):
    """Options of any name, as text: an unknown option must not cost the content."""

    def __missing__(self, name: str) -> Any:
        return lambda value: nodes.whitespace_normalize_name(value or "")


class BaseDirective(Directive):
    """A directive with an optional argument, any options and a content."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = _AnyOption(name=directives.unchanged)  # docutils treats an empty dict as no options

    def __init__(self, name: str, *arguments: Any) -> None:
        super().__init__(name.lower(), *arguments)

    def run(self) -> list[nodes.Node]:
        """The nodes of the directive. docutils calls this."""
        return list((_functions.get(self.name) or _functions[OTHER])(self))

    @property
    def scope(self) -> Scope:
        return scope_of(self)

    @property
    def argument(self) -> str:
        """The argument as one line."""
        return nodes.whitespace_normalize_name(" ".join(self.arguments))

    def parse(self, lines: StringList | None = None, node: nodes.Element | None = None) -> list[nodes.Node]:
        """Parse the content, or other lines. The nodes become children of `node`."""
        node = nodes.container() if node is None else node
        self.state.nested_parse(self.content if lines is None else lines, self.content_offset, node)
        return node.children

    def parse_line(self, text: str) -> list[nodes.Node]:
        """Parse a line of text with its roles."""
        return list(self.state.inline_text(text, self.lineno)[0])

    def make_section(self, title: list[nodes.Node], anchors: list[str]) -> nodes.section:
        """A section for a described object. Its id is the first free anchor; none if the first anchor is empty."""
        section = nodes.section("", nodes.title("", "", *title), is_object=True)
        if anchors[0] and not self.has_no_index:
            section["ids"] = [anchor for anchor in anchors if anchor and anchor not in self.state.document.ids][:1]
            self.state.document.note_explicit_target(section)
        return section

    def make_target(self, anchor: str) -> list[nodes.Node]:
        """A target with an anchor, as a label has."""
        if not anchor or self.has_no_index:
            return []
        node = nodes.target("", "", ids=[anchor])
        self.state.document.note_explicit_target(node)
        return [node]

    @property
    def has_no_index(self) -> bool:
        """Whether an option asks that no link leads here."""
        return bool({"noindex", "no-index"} & self.options.keys())


class ContentDirective(BaseDirective):
    """A directive without an argument: all its text is content."""

    optional_arguments = 0


Function = Callable[[BaseDirective], Iterable[nodes.Node]]
_functions: dict[str, Function] = {}


def register(names: str, kind: type[BaseDirective] = BaseDirective) -> Callable[[Function], Function]:
    """Register a function that renders the directives with these names, which spaces separate."""

    def add(function: Function) -> Function:
        for name in names.split():
            _functions[name] = function
            directives.register_directive(name, kind)
        return function

    return add


def names_of(*functions: Function) -> set[str]:
    """The names for which functions are registered: of some functions, or of all."""
    return {name for name, function in _functions.items() if not functions or function in functions}


def scope_of(directive: Directive) -> Scope:
    """The scope of the page that a directive is on. Its document is a `rst.Document`."""
    return cast(Scope, directive.state.document.scope)  # type: ignore[attr-defined]


def bold_title(*text: nodes.Node) -> list[nodes.Node]:
    """A bold paragraph; nothing if there is no text."""
    return [nodes.paragraph("", "", nodes.strong("", "", *text))] if any(node.astext() for node in text) else []


def code_block(code: str, language: str) -> nodes.literal_block:
    return nodes.literal_block(code, code.strip("\n"), language=language)
