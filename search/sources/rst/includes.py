"""Directives that bring in other files: `include` and `literalinclude`, with the lines that they choose."""

import ast
import posixpath
import re
from collections.abc import Iterator

from docutils import nodes
from docutils.statemachine import string2lines

from search.sources.rst.call import Call, bold, code_block
from search.sources.rst.scope import MOST_INCLUDED
from search.sources.rst.site import MOST_BYTES, MOST_WRITTEN, Site, plain

MOST_CODE = 200_000  # characters of a file that is shown
_AST = 15  # what Python does for each character of a file that it parses
_NAMED = re.compile(r"include *(?:::|\})\s*(\S[^\n]*)|:file:[ \t]+(\S[^\n]*)", re.IGNORECASE)
_ENDINGS = {"py": "python", "sh": "bash", "yml": "yaml", "txt": "", "cfg": "ini", "rb": "ruby", "rs": "rust"}
_NUMBER = re.compile(r"-?\d{1,9}")


def named_in(source: str) -> list[str]:
    """The files that a page may include, as its directives name them: at least those that they do."""
    return [(one or other).strip() for one, other in _NAMED.findall(source)]


def include(call: Call) -> list[nodes.Node]:
    """Another file as if it stood here, or as code."""
    reference = _reference(call)
    text = text_of(call, reference)
    if not text:
        return []
    shown = "\n".join(chosen(text.split("\n"), call.options))
    if "literal" in call.options or "code" in call.options:
        return [code_block(_cut(call, shown), call.options.get("code", ""))]
    lines = string2lines(shown, convert_whitespace=True)
    call.state.state_machine.insert_input(lines, place_of(reference, _around(call)))
    return []


def literal_include(call: Call) -> list[nodes.Node]:
    """Another file, or a part of it, as code."""
    reference = _reference(call)
    text = text_of(call, reference)
    if not text:
        return []
    options = call.options
    lines = text.split("\n")
    if name := options.get("pyobject"):
        if text not in call.scope.code:
            call.scope.work.spend(_AST * len(text))
            call.scope.code[text] = _python_objects(text)
        first, last = call.scope.code[text].get(name, (1, len(lines)))
        lines = lines[first - 1 : last]
    lines = chosen(lines, options)
    code = code_block(_cut(call, "\n".join(lines)), options.get("language", "") or reference.rpartition(".")[2])
    code["language"] = _ENDINGS.get(code["language"], code["language"])
    caption = options.get("caption")
    return [bold(nodes.Text(plain(caption) or reference)), code] if caption is not None else [code]


def text_of(call: Call, reference: str) -> str:
    """The text of a file that a directive names; empty when there is none, or were too many. Raises TooMuch."""
    call.scope.included += 1
    text = "" if call.scope.included > MOST_INCLUDED else text_at(call.scope.site, reference, _around(call))
    call.scope.work.spend(len(text))
    return text


def text_at(site: Site, reference: str, around: str) -> str:
    """The text of a file inside the root, as it is named in another one; empty when there is none."""
    file = site.included(reference, around)
    if not file:
        return ""
    try:
        return file.read_text(encoding="utf-8-sig")[:MOST_BYTES].replace("\x00", "").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return ""


def _around(call: Call) -> str:
    """The file that the directive stands in: includes are relative to it."""
    source, _ = call.state.state_machine.get_source_and_line(call.line)
    return source or call.scope.page


def place_of(reference: str, around: str) -> str:
    """The path, from the root on, of a file that is named in another one."""
    return reference[1:] if reference.startswith("/") else posixpath.join(posixpath.dirname(around), reference)


def _reference(call: Call) -> str:
    """The file that a directive names, on one line: as `named_in` finds it."""
    return next((line.strip() for line in (*call.head, *call.body) if line.strip()), "")


def _cut(call: Call, code: str) -> str:
    """As much of a file as may be shown: all of them are half of a page at most."""
    code = code[: min(MOST_CODE, MOST_WRITTEN // 2 - call.scope.shown)]
    call.scope.shown += len(code)
    return code


def chosen(lines: list[str], options: dict[str, str]) -> list[str]:
    """The lines that the options choose."""
    if ranges := options.get("lines"):
        lines = _ranges(lines, ranges)
    start, end = (_NUMBER.fullmatch(options.get(name, "")) for name in ("start-line", "end-line"))
    lines = lines[int(start[0]) if start else 0 : int(end[0]) if end else None]
    for name, after in (("start-at", 0), ("start-after", 1)):
        if mark := options.get(name):
            at = next((number for number, line in enumerate(lines) if mark in line), -after)
            lines = lines[at + after :]
    for name, after in (("end-at", 1), ("end-before", 0)):
        if mark := options.get(name):
            at = next((number for number, line in enumerate(lines) if mark in line), len(lines))
            lines = lines[: at + after]
    return lines


def _ranges(lines: list[str], ranges: str) -> list[str]:
    """The lines that `3,5-10,20-` names."""
    found: list[str] = []
    for part in ranges.split(","):
        if len(found) > len(lines):  # only what is named over and over can be longer
            break
        first, dash, last = (word.strip() for word in part.partition("-"))
        if all(re.fullmatch(r"\d{0,9}", word) for word in (first, last)) and (first or last):
            found += lines[int(first or 1) - 1 : int(last) if last else None if dash else int(first)]
    return found


def _python_objects(source: str) -> dict[str, tuple[int, int]]:
    """First and last line of each function and class, by names like `A.b`; the file is parsed and never run."""
    try:
        return dict(reversed(list(_defined(ast.parse(source).body))))  # of those with the same name, the first
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}


def _defined(body: list[ast.stmt], around: str = "") -> Iterator[tuple[str, tuple[int, int]]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield around + node.name, (first, node.end_lineno or first)
            yield from _defined(node.body, f"{around}{node.name}.")
