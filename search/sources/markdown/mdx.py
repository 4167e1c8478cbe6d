"""MDX to plain Markdown: the text that a reader of the rendered page sees, without JavaScript and tags."""

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate

from search.sources.markdown.mdx_tags import STRING, Scanner, Tag
from search.text.markdown.cleaning import BLOCK_ELEMENTS, ELEMENTS, cut, width
from search.text.markdown.reader import fences, headings

MAX_SEARCHES = 20  # for the fences of a page, which a comment that holds a fence may put out of step
_ESM = re.compile(
    r"import\s*(?:[\"']|(?:type\s+)?[\w$*{][\w$*{},\s]{0,2000}?\bfrom\s*[\"'])"
    r"|export\s+(?:const|let|var|function|async|class|default|type|interface|enum)\b|export\s*[{*]"
)
_ADDRESS = re.compile(r"<(?:https?://|mailto:)[^\s<>]*>")
_ID = re.compile(r"\{/\*\s*#([\w:.-]+)\s*\*/\}")
_INDENT = re.compile(r"[ \t]*")
_FORMULA = re.compile(r"\$(?=\S)[^$\n]{1,500}(?<=\S)\$(?!\d)")
_INTERESTING = re.compile(r"[<{`\\$\n]")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s+|$)")
_CODE_NAME = re.compile(r"(?=\S*[_./(*$-])[^\s`]+")

_INLINE = (ELEMENTS - BLOCK_ELEMENTS) | {
    "badge",
    "br",
    "chip",
    "hint",
    "icon",
    "key",
    "since",
    "status",
    "tag",
    "tooltip",
    "version",
}
_CELLS = frozenset(("td", "th", "dt", "dd", "option", "br", "button", "input"))
_VOID = frozenset(("br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr"))
_UNREAD = frozenset(("script", "style", "svg"))
_SILENT = frozenset(("audio", "embed", "icon", "iframe", "image3d", "input", "link", "meta", "object", "video"))
_TITLES = ("title", "label", "name", "header", "heading", "headline", "summary", "question", "text")
_NOTES = ("description", "caption", "alt", "tip", "content", "subtitle", "answer")
_PARAMETER = re.compile(r"(?i)(?:param|field|property|prop|attribute|argument|parameter|option)$")
_PARAMETER_NAMES = ("name", "path", "query", "body", "header", "param", "prop")


def to_markdown(source: str) -> str:
    """The Markdown of an MDX page. Titles of components become bold lines, their text moves to the left.

    Code stays as it is. Invalid MDX is read as text. Never raises,
    and takes time in proportion to the length.
    """
    return _Reader(source.replace("\r\n", "\n").replace("\r", "\n")).markdown()


@dataclass
class _Component:
    """A component whose text is being read: where its tag stood and where its text begins, in columns."""

    name: str
    block: bool
    column: int
    text: int | None = None
    tail: str = ""  # follows its text, as a tooltip does
    tabs: list[str] = field(default_factory=list)
    items: list[int] = field(default_factory=list)  # where the text of each open list item begins


class _Reader:
    """One walk over the source."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.out: list[str] = []
        self.open = [_Component("", True, 0, 0)]
        self.blocks = self.open[:]  # those that move their text
        self.named: Counter[str] = Counter()
        self.scan = Scanner(source)
        self.anchor = ""  # of the element around the next heading
        self.text: list[str] = []  # of the line being read, without its tags
        self.has_text = False  # whether that has more than space
        self.searches = MAX_SEARCHES
        self.fences: list[tuple[int, int]] = []
        self._find_fences()

    def markdown(self) -> str:
        while self.at < len(self.source):
            end = self.scan.line_end(self.at)
            line = self.source[self.at : end]
            if not line.strip():
                self._gap()
                self.at = end + 1
            elif behind := self._fence_end():
                self._code(behind)
            elif line.startswith(("import", "export")) and self._statement():
                pass
            elif line.lstrip().startswith("$$"):
                self._formula(line, end)
            else:
                self._line(width(line))
        return "\n".join(self.out)

    def _find_fences(self) -> None:
        """Find where fences begin and end from here on; the next one comes last."""
        rest = self.source[self.at :]
        starts = list(accumulate((len(line) + 1 for line in rest.split("\n")), initial=self.at))
        found = fences(rest, is_mdx=True)
        self.fences = [(starts[first], starts[last]) for first, last in found][::-1]
        self.searches -= 1

    def _fence_end(self) -> int:
        """Where the fence ends that begins on this line; 0 when none does."""
        while self.fences and self.fences[-1][0] < self.at:
            _, end = self.fences.pop()
            if end > self.at and self.searches:  # it began in a comment or a statement, so it is none
                self._find_fences()
        return self.fences.pop()[1] if self.fences and self.fences[-1][0] == self.at else 0

    def _code(self, behind: int) -> None:
        """A fence to its end. Its marks move with the component they stand in, and the code moves along."""
        first, *lines = self.source[self.at : behind].removesuffix("\n").split("\n")
        self.at = behind
        indent, mark = width(first), first.lstrip()
        column = self._column(indent, mark)
        inner = column + min(mark.find(tick) for tick in ("```", "~~~") if tick in mark)  # behind the marker of a list
        self.out.append(" " * column + mark)
        for number, line in enumerate(lines, 1):
            if number == len(lines) and line.strip() and not line.strip(" \t`~"):
                self.out.append(" " * inner + line.lstrip())
            else:
                self.out.append(" " * column + cut(line, indent) if line.strip() else cut(line, indent))

    def _formula(self, line: str, end: int) -> None:
        """A block of mathematics: its braces are no expressions."""
        bare = line.strip()
        if bare == "$$" or "$$" not in bare[2:]:
            closing = self.scan.find("$$", self.source.find("$$", self.at) + 2)
            if closing >= 0:
                end = self.scan.line_end(closing)
        self.out += self.source[self.at : end].split("\n")
        self.at = end + 1

    def _statement(self) -> bool:
        """Pass over an `import` or `export`, which ends with its brackets and its line."""
        found = _ESM.match(self.source, self.at)
        if not found or len(self.blocks) > 1:
            return False
        if found[0].startswith("import"):
            self.at = self.scan.line_end(found.end()) + 1
            return True
        end = self.scan.balanced(self.at, found.end() - found[0].endswith("{"), line=True)
        if end < 0:  # broken: as far as the next blank line
            blank = self.source.find("\n\n", self.at)
            end = len(self.source) if blank < 0 else blank
        self.at = end + 1
        return True

    def _line(self, indent: int) -> None:
        """A line of text with its tags, which may run on over further lines."""
        source = self.source
        self.text, self.has_text = [], False
        self.at = _INDENT.match(source, self.at).end()  # type: ignore[union-attr]  # it always matches
        kept = self.at
        while True:
            found = _INTERESTING.search(source, self.at)
            if not found:
                self._append(source[kept:])
                self.at = len(source)
                break
            at = found.start()
            mark = found[0]
            if mark == "\n":
                self._append(source[kept:at])
                self.at = at + 1
                break
            self.at = at + 1
            if mark == "\\":
                self.at = min(at + 2, len(source)) if source[at + 1 : at + 2] != "\n" else at + 1
                continue
            if mark == "`":
                self.at = self.scan.span_end(at)
                continue
            if mark == "$":
                formula = _FORMULA.match(source, at)
                self.at = formula.end() if formula else at + 1
                continue
            self._append(source[kept:at])
            kept = self.at = self._expression(at) if mark == "{" else self._markup(at, indent)
        self._emit(indent)

    def _append(self, text: str) -> None:
        if text:
            self.text.append(text)
            self.has_text = self.has_text or not text.isspace()

    def _expression(self, at: int) -> int:
        """Keep a braces expression that is a plain string, drop any other."""
        source = self.source
        if string := STRING.match(source, at):
            self._append(next(part for part in string.groups() if part is not None))
            return string.end()
        if anchor := _ID.match(source, at):  # as newer Docusaurus writes it
            self._append(f"{{#{anchor[1]}}}")
            return anchor.end()
        if source.startswith(("{#", "{ #", "{:", "{."), at) or source.startswith("{*", at):
            return self._text_brace(at)  # an anchor or the classes of what stands before it
        end = self.scan.balanced(at, at)
        return end if end > 0 else self._text_brace(at)

    def _text_brace(self, at: int) -> int:
        self._append("{")
        return at + 1

    def _markup(self, at: int, indent: int) -> int:
        """Handle a tag. A `<` that begins none stays as text."""
        source = self.source
        if address := _ADDRESS.match(source, at):
            self._append(address[0])
            return address.end()
        if source.startswith("<!--", at):
            end = self.scan.find("-->", at)
            if end >= 0:
                return end + 3
        tag = self.scan.tag(at)
        if not tag:
            following = source[at + 1 : at + 2]
            self._append("\\<" if following.isalpha() or following in ("/", "!", "?") else "<")
            return at + 1
        if tag.closes:
            self._close(tag, indent)
            return tag.end
        if tag.name.lower() in _UNREAD and not tag.empty:
            end = self.scan.find(f"</{tag.name}", tag.end)
            if end >= 0:
                return self.scan.line_end(end) if source.find(">", end) < 0 else source.find(">", end) + 1
        self._start(tag, indent)
        return tag.end

    def _start(self, tag: Tag, indent: int) -> None:
        """Open a component: its title first, then room for its text."""
        html = tag.name[0].islower() if tag.name else True
        plain = tag.name.rsplit(".", 1)[-1].lower()
        begins = not self.has_text
        block = begins and plain not in _INLINE and plain not in _CELLS
        title, note = self._visible(tag, html, plain)
        if not block and plain in _CELLS:
            self._append(" ")
        if html and tag.attributes.get("id") and begins:
            self.anchor = tag.attributes["id"]
        entry = _Component(tag.name, block, 0)
        if block:
            self._emit(indent, gap=True)
            entry.column = self._column(indent)
            if title:
                self._paragraph(entry.column, title)
            if note:
                self._paragraph(entry.column, note)
        elif title or note:
            self._append(" ".join(filter(None, [title, "" if plain == "tooltip" else note])) + (" " if title else ""))
        if tag.empty or (html and plain in _VOID):
            return
        if plain == "tooltip" and note:
            entry.tail = f" ({note})"
        entry.tabs = tag.lists.get("items", [])
        self.open.append(entry)
        if block:
            self.blocks.append(entry)
        self.named[tag.name] += 1

    def _visible(self, tag: Tag, html: bool, plain: str) -> tuple[str, str]:
        """The title of a tag and its further text, as Markdown."""
        given = tag.attributes
        if html:
            return "", _escape(given.get("alt", "")) if plain == "img" else ""
        if plain in _SILENT:
            return "", ""
        if _PARAMETER.search(plain) and (name := next((given[key] for key in _PARAMETER_NAMES if given.get(key)), "")):
            kind = [given["type"]] if given.get("type") else []
            kind += [word for word in ("required", "deprecated") if given.get(word, "false") in ("", "true")]
            kind += [f"default: {given['default']}"] if given.get("default") else []
            told = f" ({_escape(', '.join(kind))})" if kind else ""
            return f"`{name}`{told}", _escape(given.get("description", ""))
        titles = [given[key] for key in _TITLES if given.get(key)]
        if not titles and plain in ("tab", "tabitem"):
            around = next((entry for entry in reversed(self.open[-3:]) if entry.tabs), None)
            titles = [around.tabs.pop(0)] if around else [value for value in [given.get("value", "")] if value]
        elif plain == "item" and given.get("value"):
            titles.append(given["value"])
        notes = [_escape(given[key]) for key in _NOTES if given.get(key)]
        title = " ".join(_title(text) for text in titles[:2])
        if plain == "tooltip":
            return "", ": ".join(filter(None, [_escape(given.get("headline", "")), *notes]))
        return title, "\n\n".join(notes)

    def _close(self, tag: Tag, indent: int) -> None:
        """Close a component and whatever was left open in it."""
        if not self.named[tag.name]:
            return
        while True:
            entry = self.open[-1]
            self.named[entry.name] -= 1
            if entry.block:
                self._emit(indent, gap=True)
                self.blocks.pop()
            self._append(entry.tail)
            if entry.name.lower() in _CELLS:
                self._append(" ")
            self.open.pop()
            if entry.name == tag.name:
                return

    def _paragraph(self, column: int, text: str) -> None:
        self._gap()
        self.out += [" " * column + line.strip() for line in text.split("\n")]
        self._gap()

    def _gap(self) -> None:
        if self.out and self.out[-1]:
            self.out.append("")

    def _emit(self, indent: int, gap: bool = False) -> None:
        """Write the text read so far as a line; a gap parts it from what follows."""
        said = "".join(self.text)
        text = said.rstrip(" \t") + ("  " if said.endswith("  ") and said.strip() else "")
        self.text, self.has_text = [], False
        if text.strip():
            lines = text.split("\n")
            column = self._column(indent, lines[0].lstrip())
            if self.anchor and any(headings(lines[0].lstrip())) and "#" not in lines[0].lstrip("# "):
                lines[0] = f"{lines[0].rstrip()} {{ #{self.anchor} }}"
            self.anchor = ""
            self.out += [" " * column + lines[0].lstrip(), *(" " * column + line.strip() for line in lines[1:])]
        if gap or not text.strip():
            self._gap()

    def _column(self, indent: int, text: str = "") -> int:
        """The column in the Markdown, which has no components, of something that is indented so far in the MDX."""
        around = self.blocks[-1]
        if around.text is None or indent < around.text:
            around.text = indent
        column = around.column + indent - around.text
        while around.items and column < around.items[-1]:
            around.items.pop()
        base = around.items[-1] if around.items else around.column
        if column > base + 3 or (column > base and not around.items):
            column = base  # MDX has no indented code
        if item := _ITEM.match(text):
            around.items.append(column + (item.end() if item.end() < 6 else 2))
        return column


def _title(text: str) -> str:
    text = " ".join(text.split())
    if _CODE_NAME.fullmatch(text):
        return f"`{text}`"
    return _escape(text) if "*" in text or "](" in text or "`" in text else f"**{_escape(text)}**"


def _escape(text: str) -> str:
    """Escape the text of an attribute, in which `<` begins no tag."""
    return re.sub(r"<(?=[A-Za-z/!?])", r"\\<", "\n".join(line.strip() for line in text.strip().split("\n")))
