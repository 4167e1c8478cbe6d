"""The base of the directives."""

from typing import Any, cast

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

from search.sources.rst.scope import Scope


class _AnyOption(dict[str, Any]):
    """Options of any name, as text: an unknown name must not cost the content."""

    def __missing__(self, name: str) -> Any:
        return _text


def _text(value: str | None) -> str:
    return " ".join((value or "").split())


class Markup(Directive):
    """A directive with an optional argument, any options and a content."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = _AnyOption(name=_text)  # docutils takes an empty one for none

    def __init__(self, name: str, *arguments: Any) -> None:
        super().__init__(name.lower(), *arguments)

    @property
    def scope(self) -> Scope:
        return scope_of(self)

    @property
    def argument(self) -> str:
        """The argument as one line."""
        return _text(" ".join(self.arguments))

    def parse(self, lines: StringList | None = None, node: nodes.Element | None = None) -> list[nodes.Node]:
        """The content, or other lines, as reStructuredText: children of `node`."""
        node = nodes.container() if node is None else node
        self.state.nested_parse(self.content if lines is None else lines, self.content_offset, node)
        return node.children

    def inline(self, text: str) -> list[nodes.Node]:
        """A line of text with its roles."""
        return list(self.state.inline_text(text, self.lineno)[0])

    def section(self, name: nodes.Node, anchors: list[str]) -> nodes.section:
        """The section of a thing. It has the first anchor that is free, unless the first of all is empty."""
        section = nodes.section("", nodes.title("", "", name), is_object=True)
        free = [anchor for anchor in anchors if anchor and anchor not in self.state.document.ids]
        if anchors[0] and not self.is_hidden:
            section["ids"] = free[:1]
            self.state.document.note_explicit_target(section)
        return section

    def target(self, anchor: str) -> list[nodes.Node]:
        """A place with an anchor, as a label has."""
        if not anchor or self.is_hidden:
            return []
        node = nodes.target("", "", ids=[anchor])
        self.state.document.note_explicit_target(node)
        return [node]

    @property
    def is_hidden(self) -> bool:
        """Whether the page asks that nothing leads here."""
        return bool({"noindex", "no-index"} & self.options.keys())


class Content(Markup):
    """A directive without an argument: all its text is content."""

    optional_arguments = 0

    def run(self) -> list[nodes.Node]:
        return self.parse()


def scope_of(directive: Directive) -> Scope:
    """The scope of the page that a directive stands on, whose document is a `rst.Document`."""
    return cast(Scope, directive.state.document.scope)  # type: ignore[attr-defined]


def bold(*text: nodes.Node) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.strong("", "", *text))


def code_block(code: str, language: str) -> nodes.literal_block:
    return nodes.literal_block(code, code.strip("\n"), language=language)
