"""Convert MDX to plain Markdown: the visible text of the rendered page, without JavaScript and tags."""

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate

from search.sources.markdown.mdx_tags import STRING_EXPRESSION, Scanner, Tag
from search.sources.markdown.mdx_words import find_texts, find_word
from search.text.markdown.cleaning import BLOCK_ELEMENTS, ELEMENTS, cut, width
from search.text.markdown.reader import fences, headings

MAX_SEARCHES = 20  # for fences again, after a fence inside a comment made them wrong
_ESM = re.compile(
    r"import\s*(?:[\"']|(?:type\s+)?[\w$*{][\w$*{},\s]{0,2000}?\bfrom\s*[\"'])"
    r"|export\s+(?:const|let|var|function|async|class|default|type|interface|enum)\b|export\s*[{*]"
)
_ADDRESS = re.compile(r"<(?:https?://|mailto:)[^\s<>]*>")
_ID = re.compile(r"\{/\*\s*#([\w:.-]+)\s*\*/\}")
_INDENT = re.compile(r"[ \t]*")
_FORMULA = re.compile(r"\$(?=\S)[^$\n]{1,500}(?<=\S)\$(?!\d)")
_SPECIAL = re.compile(r"[<{`\\$\n]")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s+|$)")
_CODE_NAME = re.compile(r"(?=\S*[_./(*$-])[^\s`]+")

_INLINE_COMPONENTS = (ELEMENTS - BLOCK_ELEMENTS) | {
    *("badge", "br", "chip", "hint", "icon", "key", "since", "status", "tag", "tooltip", "version"),
}
_CELLS = frozenset(("dt", "dd", "option", "br", "button", "input"))
# HTML whose tags stay, since `search.text.markdown.cleaning` knows what they show.
_KEPT = frozenset(
    (
        *("table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th"),
        *("sup", "sub", "s", "del", "strike", "code", "kbd", "samp", "tt"),
    )
)
_SPANS = {"colSpan": "colspan", "colspan": "colspan", "rowSpan": "rowspan", "rowspan": "rowspan"}
_VOID = frozenset(("br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr"))
_CODE_ELEMENTS = frozenset(("script", "style", "svg"))
_WITHOUT_TEXT = frozenset(("audio", "embed", "icon", "iframe", "image3d", "input", "link", "meta", "object", "video"))
_TITLE_ATTRIBUTES = ("title", "label", "name", "header", "heading", "headline", "summary", "question", "text")
_NOTE_ATTRIBUTES = ("description", "caption", "alt", "tip", "content", "subtitle", "answer")
_PARAMETER = re.compile(r"(?i)(?:param|field|property|prop|attribute|argument|parameter|option)$")
_PARAMETER_NAMES = ("name", "path", "query", "body", "header", "param", "prop")


def to_markdown(source: str) -> str:
    """Convert an MDX page to Markdown. The title of a component becomes a bold line; its text loses its indentation.

    Code stays unchanged. Invalid MDX is read as text. Never raises. Takes time in proportion to the length.
    """
    return _Converter(source.replace("\r\n", "\n").replace("\r", "\n")).convert()


@dataclass
class _OpenComponent:
    """A component that is not closed yet. `column` is the column of its tag, `text` the column of its text."""

    name: str
    is_block: bool
    column: int
    text: int | None = None
    tail: str = ""  # written after its text; for tooltips
    tabs: list[str] = field(default_factory=list)
    items: list[int] = field(default_factory=list)  # columns of the text of open list items


class _Converter:
    """Converts the source in one pass."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.out: list[str] = []
        self.open = [_OpenComponent("", True, 0, 0)]
        self.blocks = self.open[:]  # open components whose text moves to the left
        self.open_counts: Counter[str] = Counter()
        self.in_cell = False  # of an HTML table, which stays as it is
        self.scan = Scanner(source)
        self.anchor = ""  # of an element that contains the next heading
        self.text: list[str] = []  # of the current line, without tags
        self.has_text = False  # whether `text` has more than whitespace
        self.searches = MAX_SEARCHES
        self.fences: list[tuple[int, int]] = []
        self._find_fences()

    def convert(self) -> str:
        while self.at < len(self.source):
            end = self.scan.find_line_end(self.at)
            line = self.source[self.at : end]
            if not line.strip():
                self._write_gap()
                self.at = end + 1
            elif fence_end := self._fence_end():
                self._convert_code(fence_end)
            elif line.lstrip(" \t").startswith(("import", "export")) and self._skip_statement():
                pass
            elif line.lstrip().startswith("$$"):
                self._copy_formula(line, end)
            else:
                self._convert_line(width(line))
        return "\n".join(self.out)

    def _find_fences(self) -> None:
        """Find the start and end of all fences from here on; the next fence is last in the list."""
        rest = self.source[self.at :]
        starts = list(accumulate((len(line) + 1 for line in rest.split("\n")), initial=self.at))
        found = fences(rest, is_mdx=True)
        self.fences = [(starts[first], starts[last]) for first, last in found][::-1]
        self.searches -= 1

    def _fence_end(self) -> int:
        """The end of the fence that begins on this line; 0 for none."""
        while self.fences and self.fences[-1][0] < self.at:
            _, end = self.fences.pop()
            if end > self.at and self.searches:  # it began in a comment or a statement, so it is no fence
                self._find_fences()
        return self.fences.pop()[1] if self.fences and self.fences[-1][0] == self.at else 0

    def _convert_code(self, fence_end: int) -> None:
        """Copy a fence. It moves to the left with the component that contains it."""
        first, *lines = self.source[self.at : fence_end].removesuffix("\n").split("\n")
        self.at = fence_end
        indent, mark = width(first), first.lstrip()
        column = self._compute_column(indent, mark)
        inner = column + min(mark.find(tick) for tick in ("```", "~~~") if tick in mark)  # after a list marker
        self.out.append(" " * column + mark)
        for number, line in enumerate(lines, 1):
            if number == len(lines) and line.strip() and not line.strip(" \t`~"):
                self.out.append(" " * inner + line.lstrip())
            else:
                self.out.append(" " * column + cut(line, indent) if line.strip() else cut(line, indent))

    def _copy_formula(self, line: str, end: int) -> None:
        """Copy a block of mathematics. Its braces are no expressions."""
        bare = line.strip()
        if bare == "$$" or "$$" not in bare[2:]:
            closing = self.scan.find("$$", self.source.find("$$", self.at) + 2)
            if closing >= 0:
                end = self.scan.find_line_end(closing)
        self.out += self.source[self.at : end].split("\n")
        self.at = end + 1

    def _skip_statement(self) -> bool:
        """Skip an `import` or `export`, to the end of its brackets and its line. False if there is none here."""
        found = _ESM.match(self.source, _INDENT.match(self.source, self.at).end())  # type: ignore[union-attr]  # matches
        if not found or (len(self.blocks) > 1 and found.start() > self.at):
            return False
        if found[0].startswith("import"):
            self.at = self.scan.find_line_end(found.end()) + 1
            return True
        end = self.scan.find_closing_bracket(self.at, found.end() - found[0].endswith("{"), line=True)
        if end < 0:  # invalid, so skip to the next blank line
            blank = self.source.find("\n\n", self.at)
            end = len(self.source) if blank < 0 else blank
        self.at = end + 1
        return True

    def _convert_line(self, indent: int) -> None:
        """Convert a line of text. Its tags may continue on the next lines."""
        source = self.source
        self.text, self.has_text = [], False
        self.at = _INDENT.match(source, self.at).end()  # type: ignore[union-attr]  # it always matches
        text_start = self.at
        while True:
            found = _SPECIAL.search(source, self.at)
            if not found:
                self._append(source[text_start:])
                self.at = len(source)
                break
            at = found.start()
            mark = found[0]
            if mark == "\n":
                self._append(source[text_start:at])
                self.at = at + 1
                break
            self.at = at + 1
            if mark == "\\":
                self.at = min(at + 2, len(source)) if source[at + 1 : at + 2] != "\n" else at + 1
                continue
            if mark == "`":
                self.at = self.scan.find_span_end(at)
                continue
            if mark == "$":
                formula = _FORMULA.match(source, at)
                self.at = formula.end() if formula else at + 1
                continue
            self._append(source[text_start:at])
            text_start = self.at = self._convert_expression(at) if mark == "{" else self._convert_markup(at, indent)
        self._write_line(indent)

    def _append(self, text: str) -> None:
        if text:
            self.text.append(text)
            self.has_text = self.has_text or not text.isspace()

    def _convert_expression(self, at: int) -> int:
        """Keep an expression in braces if it is a plain string, else drop it. Returns its end."""
        source = self.source
        if string := STRING_EXPRESSION.match(source, at):
            self._append(next(part for part in string.groups() if part is not None))
            return string.end()
        if anchor := _ID.match(source, at):  # as newer Docusaurus writes it
            self._append(f"{{#{anchor[1]}}}")
            return anchor.end()
        is_attributes = source.startswith(("{#", "{ #", "{:", "{.", "{*"), at)  # of the text before it
        end = -1 if is_attributes else self.scan.find_closing_bracket(at, at)
        if end > 0:
            return end
        self._append("{")
        return at + 1

    def _convert_markup(self, at: int, indent: int) -> int:
        """Convert a tag, and keep any other `<` as text. Returns the end."""
        source = self.source
        if address := _ADDRESS.match(source, at):
            self._append(address[0])
            return address.end()
        if source.startswith("<!--", at):
            end = self.scan.find("-->", at)
            if end >= 0:
                return end + 3
        tag = self.scan.parse_tag(at)
        if not tag:
            following = source[at + 1 : at + 2]
            self._append("\\<" if following.isalpha() or following in ("/", "!", "?") else "<")
            return at + 1
        if tag.name in _KEPT:
            spans = (f' {_SPANS[name]}="{value}"' for name, value in tag.attributes.items() if name in _SPANS)
            self.in_cell = not tag.is_closing if tag.name in ("td", "th") else self.in_cell
            self._append(f"</{tag.name}>" if tag.is_closing else f"<{tag.name}{''.join(spans)}>")
            return tag.end
        if tag.is_closing:
            self._close_component(tag, indent)
            return tag.end
        if tag.name.lower() in _CODE_ELEMENTS and not tag.is_self_closing:
            end = self.scan.find(f"</{tag.name}", tag.end)
            if end >= 0:
                return self.scan.find_line_end(end) if source.find(">", end) < 0 else source.find(">", end) + 1
        self._open_component(tag, indent)
        return tag.end

    def _open_component(self, tag: Tag, indent: int) -> None:
        """Open a component: write its title, then prepare for its text."""
        is_html = tag.name[0].islower() if tag.name else True
        short_name = tag.name.rsplit(".", 1)[-1].lower()
        is_line_start = not self.has_text
        is_block = is_line_start and short_name not in _INLINE_COMPONENTS and short_name not in _CELLS
        title, note = self._get_visible_text(tag, is_html, short_name)
        if not is_block and short_name in _CELLS:
            self._append(" ")
        if is_html and tag.attributes.get("id") and is_line_start:
            self.anchor = tag.attributes["id"]
        entry = _OpenComponent(tag.name, is_block, 0)
        if is_block:
            self._write_line(indent, gap=True)
            entry.column = self._compute_column(indent)
            for text in filter(None, (title, note)):
                self._write_gap()
                self.out += [" " * entry.column + line.strip() for line in text.split("\n")]
                self._write_gap()
        elif title or note:
            self._append(
                " ".join(filter(None, [title, "" if short_name == "tooltip" else note])) + (" " if title else "")
            )
        if tag.is_self_closing or (is_html and short_name in _VOID):
            return
        if short_name == "tooltip" and note:
            entry.tail = f" ({note})"
        entry.tabs = tag.lists.get("items", [])
        self.open.append(entry)
        if is_block:
            self.blocks.append(entry)
        self.open_counts[tag.name] += 1

    def _get_visible_text(self, tag: Tag, is_html: bool, short_name: str) -> tuple[str, str]:
        """The title and the other visible text in a tag's attributes, as Markdown."""
        attributes = tag.attributes
        if is_html:
            return "", _escape_tags(attributes.get("alt", "")) if short_name == "img" else ""
        if short_name in _WITHOUT_TEXT:
            icon = attributes.get("icon") or attributes.get("name", "") if short_name == "icon" else ""
            is_in_cell = self.in_cell or "".join(self.text).startswith("|")
            return find_word(icon.lower()) if is_in_cell else "", ""
        parameter_names = (attributes[key] for key in _PARAMETER_NAMES if attributes.get(key))
        if _PARAMETER.search(short_name) and (name := next(parameter_names, "")):
            kind = [attributes["type"]] if attributes.get("type") else []
            kind += [word for word in ("required", "deprecated") if attributes.get(word, "false") in ("", "true")]
            kind += [f"default: {attributes['default']}"] if attributes.get("default") else []
            type_note = f" ({_escape_tags(', '.join(kind))})" if kind else ""
            return f"`{name}`{type_note}", _escape_tags(attributes.get("description", ""))
        titles = [attributes[key] for key in _TITLE_ATTRIBUTES if attributes.get(key)]
        if not titles and short_name in ("tab", "tabitem"):
            parent = next((entry for entry in reversed(self.open[-3:]) if entry.tabs), None)
            titles = [parent.tabs.pop(0)] if parent else [value for value in [attributes.get("value", "")] if value]
        elif short_name == "item" and attributes.get("value"):
            titles.append(attributes["value"])
        notes = [_escape_tags(attributes[key]) for key in _NOTE_ATTRIBUTES if attributes.get(key)]
        title = " ".join(_format_title(text) for text in titles[:2])
        if tag.is_self_closing and not title:
            title = find_word(short_name) or " ".join(map(_format_title, find_texts(attributes)))
        if short_name == "tooltip":
            return "", ": ".join(filter(None, [_escape_tags(attributes.get("headline", "")), *notes]))
        return title, "\n\n".join(notes)

    def _close_component(self, tag: Tag, indent: int) -> None:
        """Close a component, and all components in it that are still open."""
        if not self.open_counts[tag.name]:
            return
        while True:
            entry = self.open[-1]
            self.open_counts[entry.name] -= 1
            if entry.is_block:
                self._write_line(indent, gap=True)
                self.blocks.pop()
            self._append(entry.tail)
            if entry.name.lower() in _CELLS:
                self._append(" ")
            self.open.pop()
            if entry.name == tag.name:
                return

    def _write_gap(self) -> None:
        if self.out and self.out[-1]:
            self.out.append("")

    def _write_line(self, indent: int, gap: bool = False) -> None:
        """Write the current line. With `gap`, a blank line follows."""
        text = "".join(self.text)
        text = text.rstrip(" \t") + ("  " if text.endswith("  ") and text.strip() else "")
        self.text, self.has_text = [], False
        if text.strip():
            lines = text.split("\n")
            column = self._compute_column(indent, lines[0].lstrip())
            if self.anchor and any(headings(lines[0].lstrip())) and "#" not in lines[0].lstrip("# "):
                lines[0] = f"{lines[0].rstrip()} {{ #{self.anchor} }}"
            self.anchor = ""
            self.out += [" " * column + lines[0].lstrip(), *(" " * column + line.strip() for line in lines[1:])]
        if gap or not text.strip():
            self._write_gap()

    def _compute_column(self, indent: int, text: str = "") -> int:
        """The column in the Markdown for text with this indentation in the MDX. Components add no indentation."""
        parent = self.blocks[-1]
        if parent.text is None or indent < parent.text:
            parent.text = indent
        column = parent.column + indent - parent.text
        while parent.items and column < parent.items[-1]:
            parent.items.pop()
        base = parent.items[-1] if parent.items else parent.column
        if column > base + 3 or (column > base and not parent.items):
            column = base  # MDX has no indented code
        if item := _ITEM.match(text):
            parent.items.append(column + (item.end() if item.end() < 6 else 2))
        return column


def _format_title(text: str) -> str:
    text = " ".join(text.split())
    if _CODE_NAME.fullmatch(text):
        return f"`{text}`"
    return _escape_tags(text) if "*" in text or "](" in text or "`" in text else f"**{_escape_tags(text)}**"


def _escape_tags(text: str) -> str:
    """The text of an attribute, escaped so that it has no tags. It is Markdown already, so its other marks stay."""
    return re.sub(r"<(?=[A-Za-z/!?])", r"\\<", "\n".join(line.strip() for line in text.strip().split("\n")))
