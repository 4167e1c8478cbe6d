"""A docutils document in Markdown, as `search.text.sections` reads it."""

import re
from collections.abc import Callable, Iterable

from docutils import nodes

from search.sources.rst.scope import TooMuch
from search.sources.rst.site import MAX_WRITTEN
from search.text.markdown.plain_text import slug

_HIDDEN = (nodes.Invisible, nodes.raw, nodes.colspec, nodes.decoration)
_SPECIAL = re.compile(r"[\\`*\[\]<~{]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
_BLOCK_MARK = re.compile(r"(?:[-+>#:=|]|!!!|\?\?\?|///|;?-+8<)")
_NUMBER = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_AUTOMATIC = re.compile(r"id\d+$")
_ANCHOR = re.compile(r"[\w:.-]+$")
_TICKS = re.compile("`+")
_PARAMETERS = frozenset(["param", "parameter", "arg", "argument", "key", "keyword", "var", "ivar", "cvar"])


class Writer:
    """One walk over a document. A block is a text, inline text is one line. `level` is that of the heading above.

    Raises TooMuch.
    """

    def __init__(self, document: nodes.document, level: int = 0) -> None:
        self.document = document
        self.budget = MAX_WRITTEN  # characters that substitutions may add
        self.open: set[str] = set()  # substitutions that are being replaced
        self.depth = level
        self.nested = 0  # lists and quotes around, in which no heading can stand
        self.slugs: set[str] = set()
        self.has_title = level > 0

    def markdown(self) -> str:
        """The whole page."""
        return "\n\n".join(self.blocks(self.document.children)) + "\n"

    def blocks(self, children: Iterable[nodes.Node]) -> list[str]:
        """Some nodes, block by block. Text among them is a paragraph."""
        found: list[str] = []
        line: list[nodes.Node] = []
        for node in children:
            if isinstance(node, nodes.Text | nodes.Inline) and not isinstance(node, nodes.image | nodes.target):
                line.append(node)
                continue
            found += self._line(line)
            line = []
            found += self.block(node)
        return found + self._line(line)

    def block(self, node: nodes.Node) -> list[str]:
        """One block of docutils, as none or more."""
        if not isinstance(node, nodes.Element) or isinstance(node, _HIDDEN):
            return []
        write: Callable[[nodes.Element], list[str]] | None = getattr(self, type(node).__name__, None)
        if write:
            return write(node)
        return self._line(node.children) if isinstance(node, nodes.TextElement) else self.blocks(node.children)

    def _line(self, children: Iterable[nodes.Node]) -> list[str]:
        return [text] if (text := _escape_start(self.line(children))) else []

    def _nest(self, children: Iterable[nodes.Node]) -> list[str]:
        """Blocks inside a list or a quote."""
        self.nested += 1
        found = self.blocks(children)
        self.nested -= 1
        return found

    def section(self, node: nodes.Element) -> list[str]:
        """A section of the page or a described thing, which is never the page's title."""
        title = node.next_node(nodes.title)
        text = self.line(title.children) if title else ""
        above = self.depth
        self.depth = max(self.depth, 1 if node.get("is_object") else 0) + 1
        is_heading = not self.nested and (node["ids"] or not node.get("is_object"))
        found = [self._heading(text, _anchor(node)) if is_heading else f"**{text}**"] if text else []
        found += self.blocks(child for child in node.children if child is not title)
        self.depth = above
        return found

    def _heading(self, text: str, anchor: str) -> str:
        """A heading, which names its anchor where GitHub would give it another."""
        level = min(self.depth, 6)
        is_title = level == 1 and not self.has_title
        self.has_title = True
        if is_title:
            return f"# {text}"
        usual = slug(re.sub(r"\\(?=[^\w\s])|`", "", text))
        is_usual = usual == anchor and usual not in self.slugs
        self.slugs.add(usual)
        explicit = "" if is_usual or not _ANCHOR.match(anchor) else f" {{#{escape(anchor)}}}"
        return f"{'#' * level} {text}{explicit}"

    def literal_block(self, node: nodes.Element) -> list[str]:
        text = node.astext().rstrip()
        fence = "`" * max(3, *(len(run) + 1 for run in _TICKS.findall(text)), 3)
        usual = {"math_block": "latex", "doctest_block": "python"}.get(type(node).__name__, "")
        language = re.sub(r"[^\w+#.-]|^(?:none|text|default)$", "", node.get("language", usual))
        return [f"{fence}{language}\n{text}\n{fence}"] if text else []

    math_block = doctest_block = literal_block

    def system_message(self, node: nodes.Element) -> list[str]:
        """A directive or a table that docutils refuses is its source."""
        return [text for child in node.children if isinstance(child, nodes.literal_block) for text in self.block(child)]

    def block_quote(self, node: nodes.Element) -> list[str]:
        """A quote. A list that is only indented is none."""
        blocks = self._nest(node.children)
        if all(isinstance(child, nodes.Sequential | nodes.table | nodes.literal_block) for child in node.children):
            return blocks
        return ["\n".join(f"> {line}".rstrip() for line in "\n\n".join(blocks).split("\n"))]

    def bullet_list(self, node: nodes.Element) -> list[str]:
        return _list(("- ", self._nest(item.children)) for item in _elements(node))

    def enumerated_list(self, node: nodes.Element) -> list[str]:
        items = enumerate(_elements(node), node.get("start", 1))
        return _list((f"{number}. ", self._nest(item.children)) for number, item in items)

    def definition_list(self, node: nodes.Element) -> list[str]:
        """Each term in bold, as an item with its meaning."""
        items = []
        for item in _elements(node):
            texts: list[str] = []
            for part in _elements(item):
                if isinstance(part, nodes.definition):
                    texts = [" ".join(texts), *self._nest(part.children)]
                elif text := self.line(part.children):
                    texts.append(f"**{text}**" if isinstance(part, nodes.term) else f"({text})")
            items.append(("- ", texts))
        return _list(items)

    def field_list(self, node: nodes.Element) -> list[str]:
        """Parameters and the like."""
        items = []
        for name, body in map(_elements, _elements(node)):
            kind, _, parameter = name.astext().partition(" ")
            head = code(parameter) if kind in _PARAMETERS and parameter else f"**{self.line(name.children)}**"
            content = self._nest(body.children)
            if content and isinstance(body.children[0], nodes.paragraph):
                head = f"{head}: {content.pop(0)}"
            items.append(("- ", [head, *content]))
        return _list(items)

    def line_block(self, node: nodes.Element) -> list[str]:
        lines = [_escape_start(self.line(part.children)) for part in node.findall(nodes.line) if part.children]
        return ["  \n".join(lines)] if lines else []

    def footnote(self, node: nodes.Element) -> list[str]:
        """A footnote with its number, where it stands."""
        label = node.next_node(nodes.label)
        text = self.blocks(child for child in node.children if child is not label)
        return [f"\\[{label.astext() if label else ''}\\] {text[0]}", *text[1:]] if text else []

    citation = footnote

    def image(self, node: nodes.Element) -> list[str]:
        return self._line([node])

    def transition(self, node: nodes.Element) -> list[str]:
        return ["---"]

    def title(self, node: nodes.Element) -> list[str]:
        text = self.line(node.children)
        return [f"**{text}**"] if text else []

    def table(self, node: nodes.Element) -> list[str]:
        """The title, if there is one, and one row a line. A cell that spans rows is in the first of them only."""
        head: list[list[str]] = []
        rows: list[list[str]] = []
        for row in node.findall(nodes.row):
            cells: list[str] = []
            for entry in _elements(row):
                cells += [self._flat(entry).replace("|", "\\|"), *[""] * entry.get("morecols", 0)]
            (head if isinstance(row.parent, nodes.thead) else rows).append(cells)
        width = max(map(len, head + rows), default=0)
        head = [[" ".join(filter(None, (row[at] for row in head if at < len(row)))) for at in range(width)]]
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in [*head, ["---"] * width, *rows]]
        titles = [text for child in node.children if isinstance(child, nodes.title) for text in self.title(child)]
        return [*titles, "\n".join(lines)] if width else []

    def line(self, children: Iterable[nodes.Node]) -> str:
        """Some inline nodes as one line."""
        return " ".join("".join(map(self._text, children)).split())

    def _flat(self, node: nodes.Node) -> str:
        """The text of a block on one line, without its form."""
        if isinstance(node, nodes.FixedTextElement):
            return code(node.astext())
        if isinstance(node, nodes.TextElement | nodes.image) or not isinstance(node, nodes.Element):
            return self.line([node])
        return " ".join(filter(None, map(self._flat, node.children)))

    def _text(self, node: nodes.Node) -> str:
        if isinstance(node, nodes.Text | nodes.problematic):
            return escape(node.astext())
        if isinstance(node, nodes.substitution_reference):
            return self._substitute(node)
        if isinstance(node, nodes.image):  # only its description can be searched
            return escape(node.get("alt", ""))
        if isinstance(node, nodes.footnote_reference | nodes.citation_reference):
            return f"\\[{node.astext()}\\]"
        if isinstance(node, nodes.literal | nodes.math):
            return code(node.astext())
        if not isinstance(node, nodes.Element) or (isinstance(node, _HIDDEN) and not isinstance(node, nodes.target)):
            return ""
        text = "".join(map(self._text, node.children))
        if isinstance(node, nodes.reference):
            return _link(node, text)
        mark = "**" if isinstance(node, nodes.strong) else "*"
        marked = isinstance(node, nodes.strong | nodes.emphasis | nodes.title_reference)
        return f"{mark}{text.strip()}{mark}" if marked and text.strip() else text

    def _substitute(self, node: nodes.Element) -> str:
        """The text behind `|name|`; the name where there is none. The transform of docutils copies without end."""
        name = node["refname"]
        key = name if name in self.document.substitution_defs else self.document.substitution_names.get(name.lower())
        if key is None or key in self.open:
            return escape(node.astext())
        self.open.add(key)
        text = "".join(map(self._text, self.document.substitution_defs[key].children))
        self.open.discard(key)
        self.budget -= len(text) + 1
        if self.budget < 0:
            raise TooMuch("substitutions in substitutions")
        return text


def _list(items: Iterable[tuple[str, list[str]]]) -> list[str]:
    """A list of marks and blocks; a tight one if each item is a single block."""
    filled = [(mark, blocks) for mark, blocks in items if blocks]
    texts = [mark + "\n\n".join(blocks).replace("\n", f"\n{' ' * len(mark)}") for mark, blocks in filled]
    between = "\n" if all(len(blocks) == 1 for _, blocks in filled) else "\n\n"
    return [between.join(re.sub(r"(?m)^ +$", "", text) for text in texts)] if texts else []


def _escape_start(line: str) -> str:
    """A paragraph whose first characters begin no other block."""
    return f"\\{line}" if _BLOCK_MARK.match(line) else _NUMBER.sub(r"\1\\\2", line, count=1)


def _anchor(node: nodes.Element) -> str:
    """The id by which Sphinx links a section: its own, or a label's where its own is only a number."""
    ids: list[str] = node["ids"]
    return ids[1] if len(ids) > 1 and _AUTOMATIC.match(ids[0]) else ids[0] if ids else ""


def _elements(node: nodes.Element) -> list[nodes.Element]:
    return [child for child in node.children if isinstance(child, nodes.Element)]


def code(text: str) -> str:
    """Text as a code span on one line."""
    text = " ".join(text.split())
    ticks = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text else ""


def escape(text: str) -> str:
    """Text that neither Markdown nor its dialects take for markup."""
    return _SPECIAL.sub(lambda mark: f"\\{mark[0]}", text.replace("\x00", ""))


def _link(node: nodes.Element, text: str) -> str:
    target = node.get("refuri") or (f"#{node['refid']}" if node.get("refid") else "")
    if not target or not text.strip():
        return text
    target = target.replace("\n", "").replace(" ", "%20").replace("<", "%3C").replace(">", "%3E")
    if node.astext() == target and target.startswith(("http://", "https://")):
        return f"<{target}>"
    return f"[{' '.join(text.split())}]({f'<{target}>' if '(' in target or ')' in target else target})"
