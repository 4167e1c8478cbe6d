"""One use of a directive: its lines taken apart, and what its handler reads and writes with."""

import re
from dataclasses import dataclass

from docutils import nodes
from docutils.parsers.rst import states
from docutils.statemachine import StringList

from search.sources.rst.scope import Scope

OPTION = re.compile(r":([\w][\w +.-]*):(?:\s+(.*))?$")


@dataclass
class Call:
    """One use of a directive. `head` are the lines before the options or the first empty one, `body` those after."""

    name: str
    state: states.RSTState
    scope: Scope
    line: int
    head: StringList
    options: dict[str, str]
    body: StringList
    offset: int
    has_argument: bool  # whether there is text on the directive's own line

    @property
    def argument(self) -> str:
        """The head as one line."""
        return " ".join(line.strip() for line in self.head).strip()

    def parse(self, lines: StringList, node: nodes.Element | None = None) -> list[nodes.Node]:
        """Some of the lines as reStructuredText."""
        node = node if node is not None else nodes.container()
        if lines:
            self.state.nested_parse(lines, self.offset, node)
        return node.children

    def inline(self, text: str) -> list[nodes.Node]:
        """A line of text with its roles and marks."""
        return list(self.state.inline_text(text, self.line)[0])

    def all(self) -> list[nodes.Node]:
        """Head and body, both as content."""
        return [*self.parse(self.head), *self.parse(self.body)]


def call_of(
    name: str, state: states.RSTState, scope: Scope, line: int, lines: StringList, offset: int, has_argument: bool
) -> Call:
    """A directive's lines taken apart."""
    start = 0
    while start < len(lines) and not lines[start].strip():
        start += 1
    end = start
    while end < len(lines) and lines[end].strip() and not (OPTION.match(lines[end]) and (end or not has_argument)):
        end += 1
    after = end
    options: dict[str, str] = {}
    option = ""
    while after < len(lines) and lines[after].strip():
        found = OPTION.match(lines[after])
        if found:
            option = found[1].lower()
            options[option] = (found[2] or "").strip()
        elif not option or not lines[after].startswith(" "):
            break  # content follows without an empty line
        else:
            options[option] = f"{options[option]} {lines[after].strip()}".strip()
        after += 1
    if not has_argument and start and not options:
        end = after = start  # no argument: all of it is content
    while after < len(lines) and not lines[after].strip():
        after += 1
    return Call(name, state, scope, line, lines[start:end], options, lines[after:], offset + after, has_argument)


def bold(*text: nodes.Node) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.strong("", "", *text))


def code_block(code: str, language: str) -> nodes.literal_block:
    return nodes.literal_block(code, code.strip("\n"), language=language)
