"""Scan MDX for tags with their attributes, brackets, strings and code spans."""

import re
from dataclasses import dataclass, field

from search.text.markdown.cleaning import ELEMENTS
from search.text.markdown.links import CodeSpans

MAX_SPAN = 5_000  # characters of a code span
STRING_EXPRESSION = re.compile(r"\{\s*(?:\"([^\"\\]*)\"|'([^'\\]*)'|`([^`\\$]*)`)\s*\}")
_ATTRIBUTE = re.compile(r"\s*([A-Za-z_$][\w:.$-]*)\s*(?:=\s*(?:\"([^\"]*)\"|'([^']*)'|(?=\{)))?")
_CODE_POINTS = re.compile(r"[{}()\[\]\"'`\n]|//|/\*")
_NAME = re.compile(r"</?\s*([A-Za-z_$][\w.:$-]*)?(?=[\s/>{])")
_SPREAD = re.compile(r"\s*(?=\{)")
_STRINGS = re.compile(r"\"([^\"\\]*)\"|'([^'\\]*)'|`([^`\\$]*)`")
_TAG_END = re.compile(r"\s*(/?)>")


@dataclass
class Tag:
    """A tag of a component or of HTML, with its text attributes and lists of text."""

    name: str
    end: int
    is_closing: bool = False
    is_self_closing: bool = False
    attributes: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)


class Scanner:
    """Finds the end of tags, brackets and code. Failed searches use up `budget`, so hostile text cannot cost much."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.budget = 2 * len(source) + 100_000
        self._spans = CodeSpans(source)

    def parse_tag(self, at: int) -> Tag | None:
        """The tag that begins here; None if it is incomplete or not a tag."""
        source = self.source
        if source.startswith("<>", at) or source.startswith("</>", at):
            return Tag("", at + (2 if source[at + 1] == ">" else 3), is_closing=source[at + 1] == "/")
        name = _NAME.match(source, at)
        if not name or not name[1] or self.budget <= 0:
            return None
        tag = Tag(name[1], 0, is_closing=source[at + 1] == "/")
        is_behind_word = at > 0 and source[at - 1].isalnum()
        if is_behind_word and name[1][0].islower() and name[1] not in ELEMENTS and not tag.is_closing:
            return None  # `Array<string>`
        position = name.end()
        while True:
            if end := _TAG_END.match(source, position):
                tag.is_self_closing, tag.end = bool(end[1]), end.end()
                return tag
            spread = _SPREAD.match(source, position)
            attribute = None if spread else _ATTRIBUTE.match(source, position)
            if not spread and not attribute:
                self.budget -= position - at
                return None
            position = attribute.end() if attribute else spread.end() if spread else position
            if attribute and (attribute[2] is not None or attribute[3] is not None):
                tag.attributes[attribute[1]] = attribute[2] if attribute[2] is not None else attribute[3]
            elif source.startswith("{", position):
                value_end = self.find_closing_bracket(position, position)
                if value_end < 0:
                    return None
                if attribute:
                    _parse_value(tag, attribute[1], source[position:value_end])
                position = value_end
            elif attribute:
                tag.attributes.setdefault(attribute[1], "")

    def find_line_end(self, at: int) -> int:
        end = self.source.find("\n", at)
        return len(self.source) if end < 0 else end

    def find(self, text: str, start: int) -> int:
        """Like `str.find`, but -1 when the budget is used up."""
        if self.budget <= 0:
            return -1
        found = self.source.find(text, start)
        if found < 0:
            self.budget -= len(self.source) - start
        return found

    def find_closing_bracket(self, start: int, at: int, line: bool = False) -> int:
        """The end of the bracket at `at`, or with `line` the end of a statement; -1 if there is no end."""
        if self.budget <= 0:
            return -1
        depth: list[str] = []
        source = self.source
        found = _CODE_POINTS.search(source, at)
        while found:
            mark, at = found[0], found.end()
            if mark == "\n":
                if line and not depth and not _continues_statement(source, start, found.start(), at):
                    return found.start()
            elif mark in "{([":
                depth.append(mark)
            elif mark in "})]":
                if depth:
                    depth.pop()
                if not depth and not line:
                    return at
            elif mark == "/*" or mark == "//":
                end = source.find("*/" if mark == "/*" else "\n", at)
                if mark == "/*" and end < 0:
                    break
                if mark == "/*":
                    at = end + 2
                elif source[found.start() - 1] != ":":  # slashes of a URL
                    at = end if end >= 0 else len(source)
            else:
                at = self._find_string_end(mark, at)
            found = _CODE_POINTS.search(source, at)
        if line and not depth and not found:
            return len(source)
        self.budget -= len(source) - start
        return -1

    def _find_string_end(self, quote: str, at: int) -> int:
        """The end of a string. If the quote is an apostrophe in text, the position after it."""
        end = at
        while True:
            end = self.source.find(quote, end)
            if end < 0 or (quote != "`" and "\n" in self.source[at : min(end, at + 5000)]) or end - at > 100_000:
                self.budget -= (len(self.source) if end < 0 else end) - at
                return at
            if self.source[end - 1] != "\\":
                return end + 1
            end += 1

    def find_span_end(self, at: int) -> int:
        """The end of a code span. If nothing closes it in this paragraph, the end of its backticks."""
        blank = self.source.find("\n\n", at, at + MAX_SPAN)
        return self._spans.end(at, blank if blank >= 0 else at + MAX_SPAN)


def _continues_statement(source: str, start: int, end: int, after: int) -> bool:
    """Whether a statement continues on the next line: an operator ends this line or begins the next."""
    return source[start:end].rstrip()[-1:] in set("=,(&|?:+.") or source[after : after + 200].lstrip(" \t")[:1] in set(
        ".?:&|"
    )


def _parse_value(tag: Tag, name: str, braces: str) -> None:
    """Add an attribute in braces to the tag, if it is a string, a list of strings, a number or a flag."""
    inner = braces[1:-1].strip()
    if string := STRING_EXPRESSION.fullmatch(braces):
        tag.attributes[name] = next(part for part in string.groups() if part is not None)
    elif inner.startswith("[") and len(inner) < 5000:
        tag.lists[name] = ["".join(filter(None, groups)) for groups in _STRINGS.findall(inner)]
    elif re.fullmatch(r"-?[\d.]+|true|false|null", inner):
        tag.attributes[name] = inner
