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

from search.sources.rst.base import BaseDirective, bold_paragraph, code_block, scope_of
from search.sources.rst.directives import prepare
from search.sources.rst.scope import MAX_INCLUDES, TooMuch
from search.sources.rst.site import MAX_BYTES, MAX_PARSED, MAX_WRITTEN, Site, place_of, plain

MAX_CODE = 200_000  # characters of a file that is shown
_INCLUDED = re.compile(r"include *(?:::|\})\s*(\S[^\n]*)|:file:[ \t]+(\S[^\n]*)", re.IGNORECASE)
_LANGUAGES = {"py": "python", "sh": "bash", "yml": "yaml", "txt": "", "cfg": "ini", "rb": "ruby", "rs": "rust"}
_NUMBER = re.compile(r"-?\d{1,9}")


class Include(BaseDirective):
    """Another file as if it stood here, or as code."""

    def run(self) -> list[nodes.Node]:
        text = "\n".join(select_lines(read(self, self.argument).split("\n"), self.options))
        if "literal" in self.options or "code" in self.options:
            return [shorten(self, text, self.options.get("code", ""))]
        self.scope.included += len(text)
        if self.scope.included > MAX_PARSED:
            raise TooMuch(f"includes more than {MAX_PARSED} characters")
        lines = string2lines(prepare(text), convert_whitespace=True)
        self.state_machine.insert_input(lines, place_of(self.argument, source_of(self)))
        return []


class LiteralInclude(BaseDirective):
    """Another file, or a part of it, as code."""

    def run(self) -> list[nodes.Node]:
        text = read(self, self.argument)
        lines = text.split("\n")
        if name := self.options.get("pyobject"):
            self.scope.spend(len(text) // 100)
            lines = lines[_python_object(text[:MAX_PARSED], name)]
        language = self.options.get("language") or self.argument.rpartition(".")[2]
        code = shorten(self, "\n".join(select_lines(lines, self.options)), _LANGUAGES.get(language, language))
        caption = self.options.get("caption")
        return [code] if caption is None else [bold_paragraph(nodes.Text(plain(caption) or self.argument)), code]


class CSVTable(tables.CSVTable):
    """A table of comma-separated values, perhaps from a file."""

    def run(self) -> Sequence[nodes.table | nodes.system_message]:
        if file := self.options.pop("file", ""):
            self.content = StringList(prepare(read(self, file)).split("\n"), source=file)
        return super().run()

    def extend_short_rows_with_empty_cells(self, columns: int, parts: Any) -> None:
        """All rows become as long as the longest."""
        scope_of(self).spend(columns * sum(map(len, parts)))
        super().extend_short_rows_with_empty_cells(columns, parts)


def read(directive: Directive, file: str) -> str:
    """The text of a file that a directive names; empty when it may not be read. Raises TooMuch."""
    scope = scope_of(directive)
    scope.includes += 1
    if scope.includes > MAX_INCLUDES:
        return ""
    text = text_of(scope.site, file, source_of(directive) or scope.page)
    scope.spend(len(text) // 1000)
    return text


def shorten(directive: Directive, code: str, language: str) -> nodes.literal_block:
    """As much code as may be shown: all code from files is half of a page at most."""
    scope = scope_of(directive)
    code = code[: min(MAX_CODE, MAX_WRITTEN // 2 - scope.code)]
    scope.code += len(code)
    return code_block(code, language)


def source_of(directive: Directive) -> str:
    """The file that a directive stands in: includes are relative to it."""
    return directive.state_machine.get_source_and_line(directive.lineno)[0] or ""


def includes_in(source: str) -> list[str]:
    """The files that a page may include, as it names them; perhaps a few too many."""
    return [(one or other).strip() for one, other in _INCLUDED.findall(source)]


def text_of(site: Site, reference: str, around: str) -> str:
    """The text of a file that another one names; empty when there is none inside the site's bounds."""
    file = site.included(reference, around)
    if not file:
        return ""
    try:
        return file.read_text(encoding="utf-8-sig")[:MAX_BYTES].replace("\x00", "").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return ""


def select_lines(lines: list[str], options: dict[str, str]) -> list[str]:
    """The lines that the options choose."""
    if ranges := options.get("lines"):
        lines = _ranges(lines, ranges)
    start, end = (options.get(name, "") for name in ("start-line", "end-line"))
    lines = lines[int(start) if _NUMBER.fullmatch(start) else 0 : int(end) if _NUMBER.fullmatch(end) else None]
    for name in ("start-at", "start-after", "end-at", "end-before"):
        mark = options.get(name)
        at = next((number for number, line in enumerate(lines) if mark in line), None) if mark else None
        if at is not None:
            at += name in ("start-after", "end-at")
            lines = lines[at:] if name.startswith("start") else lines[:at]
    return lines


def _ranges(lines: list[str], ranges: str) -> list[str]:
    """The lines of `3,5-10,20-`."""
    found: list[str] = []
    for part in ranges.split(","):
        if len(found) > len(lines):  # a longer result names lines over and over
            break
        first, dash, last = (word.strip() for word in part.partition("-"))
        if all(re.fullmatch(r"\d{0,9}", word) for word in (first, last)) and (first or last):
            found += lines[int(first or 1) - 1 : int(last) if last else None if dash else int(first)]
    return found


def _python_object(source: str, name: str) -> slice:
    """The lines of a function or a class by a name like `A.b`; all lines if there is no such name."""
    found: ast.stmt | None = None
    body = _python_body(source)
    for part in name.split("."):
        found = next((node for node in body if getattr(node, "name", "") == part), None)
        body = getattr(found, "body", [])
    first = min([found.lineno, *(one.lineno for one in getattr(found, "decorator_list", []))]) if found else 1
    return slice(first - 1, found.end_lineno if found else None)


@lru_cache(maxsize=1)
def _python_body(source: str) -> list[ast.stmt]:
    """The statements of a file, which is parsed and never run."""
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


directives.register_directive("include", Include)
directives.register_directive("literalinclude", LiteralInclude)
directives.register_directive("csv-table", CSVTable)
