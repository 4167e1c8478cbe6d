"""Other files in a page: `include`, `literalinclude`, and the lines that their options choose."""

import ast
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.parsers.rst.directives import tables
from docutils.statemachine import StringList, string2lines

from search.sources import Problem
from search.sources.files import read_text_or_nothing
from search.sources.markdown.includes import extract_lines
from search.sources.rst.base import BaseDirective, bold_title, code_block, register, scope_of
from search.sources.rst.directives import prepare
from search.sources.rst.scope import MAX_INCLUDES, PageTooComplex
from search.sources.rst.site import MAX_BYTES, MAX_MARKDOWN, MAX_PARSED, Site, resolve_path, strip_markup

MAX_CODE = 200_000  # characters of a file that is shown as code
_INCLUDE = re.compile(r"include *(?:::|\})\s*(\S[^\n]*)|:file:[ \t]+(\S[^\n]*)", re.IGNORECASE)
_LANGUAGES = {"py": "python", "sh": "bash", "yml": "yaml", "txt": "", "cfg": "ini", "rb": "ruby", "rs": "rust"}
_NUMBER = re.compile(r"-?\d{1,9}")


@register("include")
def include(directive: BaseDirective) -> list[nodes.Node]:
    """Read another file as if its text were here, or show it as code."""
    text = "\n".join(select_lines(_read_file(directive, directive.argument).split("\n"), directive.options))
    if "literal" in directive.options or "code" in directive.options:
        return [_limited_code(directive, text, directive.options.get("code", ""))]
    directive.scope.included_characters += len(text)
    if directive.scope.included_characters > MAX_PARSED:
        raise PageTooComplex(f"includes more than {MAX_PARSED} characters")
    lines = string2lines(prepare(text), convert_whitespace=True)
    directive.state_machine.insert_input(lines, resolve_path(directive.argument, _current_file(directive)))
    return []


@register("literalinclude")
def include_code(directive: BaseDirective) -> list[nodes.Node]:
    """Show another file, or a part of it, as code."""
    text = _read_file(directive, directive.argument)
    lines = text.split("\n")
    if name := directive.options.get("pyobject"):
        directive.scope.spend(len(text) // 100)
        lines = lines[_python_object(text[:MAX_PARSED], name)]
    language = directive.options.get("language") or directive.argument.rpartition(".")[2]
    text = "\n".join(select_lines(lines, directive.options))
    code = _limited_code(directive, text, _LANGUAGES.get(language, language))
    caption = directive.options.get("caption")  # an empty one stands for the name of the file
    title = "" if caption is None else strip_markup(caption) or directive.argument
    return [*bold_title(nodes.Text(title)), code]


class CSVTable(tables.CSVTable):
    """A table of comma-separated values, perhaps from a file."""

    def run(self) -> Sequence[nodes.table | nodes.system_message]:
        if file := self.options.pop("file", ""):
            self.content = StringList(prepare(_read_file(self, file)).split("\n"), source=file)
        return super().run()

    def extend_short_rows_with_empty_cells(self, columns: int, parts: Any) -> None:
        """All rows become as long as the longest."""
        scope_of(self).spend(columns * sum(map(len, parts)))
        super().extend_short_rows_with_empty_cells(columns, parts)


directives.register_directive("csv-table", CSVTable)


def _read_file(directive: Directive, file: str) -> str:
    """The text of a file that a directive names; empty when it may not be read. Raises PageTooComplex."""
    scope = scope_of(directive)
    scope.include_count += 1
    if scope.include_count > MAX_INCLUDES:
        return ""
    text = read_text(scope.site, file, _current_file(directive) or scope.page)
    if not text:
        scope.problems.append(Problem("include", file))
    scope.spend(len(text) // 1000)
    return text


def _limited_code(directive: Directive, code: str, language: str) -> nodes.literal_block:
    """Code, cut to the limit of a file and to that of a page: half of it may be code from files."""
    scope = scope_of(directive)
    code = code[: min(MAX_CODE, MAX_MARKDOWN // 2 - scope.code_characters)]
    scope.code_characters += len(code)
    return code_block(code, language)


def _current_file(directive: Directive) -> str:
    """The file that a directive is in. Includes are relative to it."""
    return directive.state_machine.get_source_and_line(directive.lineno)[0] or ""


def find_includes(source: str) -> list[str]:
    """The files that a page may include, as the page names them. It may not include all of them."""
    return [(file or table).strip() for file, table in _INCLUDE.findall(source)]


def read_text(site: Site, reference: str, from_page: str) -> str:
    """The text of a file that another one names; empty when the site may not include it."""
    file = site.find_include(reference, from_page)
    return read_text_or_nothing(file.parent, file, MAX_BYTES).replace("\x00", "") if file else ""


def select_lines(lines: list[str], options: dict[str, str]) -> list[str]:
    """The lines that the options of an include choose."""
    if ranges := options.get("lines"):
        lines = extract_lines("\n".join(lines), ranges.replace("-", ":")).split("\n")
    start, end = (options.get(name, "") for name in ("start-line", "end-line"))
    lines = lines[int(start) if _NUMBER.fullmatch(start) else 0 : int(end) if _NUMBER.fullmatch(end) else None]
    for name in ("start-at", "start-after", "end-at", "end-before"):
        mark = options.get(name)
        at = next((number for number, line in enumerate(lines) if mark in line), None) if mark else None
        if at is not None:
            at += name in ("start-after", "end-at")
            lines = lines[at:] if name.startswith("start") else lines[:at]
    return lines


def _python_object(source: str, name: str) -> slice:
    """The lines of a function or a class by a name like `A.b`; all lines if there is no such name."""
    statement: ast.stmt | None = None
    body = _parse_python(source)
    for part in name.split("."):
        statement = next((node for node in body if getattr(node, "name", "") == part), None)
        body = getattr(statement, "body", [])
    if not statement:
        return slice(None)
    decorators = getattr(statement, "decorator_list", [])
    return slice(min(node.lineno for node in (statement, *decorators)) - 1, statement.end_lineno)


@lru_cache(maxsize=1)
def _parse_python(source: str) -> list[ast.stmt]:
    """The statements of a file, which is parsed and never run."""
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
