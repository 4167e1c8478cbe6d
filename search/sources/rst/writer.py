"""Write a docutils document as Markdown, as `search.text.sections` reads it."""

import re
from collections.abc import Iterable

from docutils import nodes

from search.sources.rst.scope import PageTooComplex
from search.sources.rst.site import MAX_MARKDOWN
from search.text.markdown.links import is_pseudo_address
from search.text.markdown.plain_text import slug
from search.text.markdown.reader import fence
from search.text.markdown.writer import code_span, escape_line_start, escape_text

_HIDDEN = (nodes.Invisible, nodes.raw, nodes.colspec, nodes.decoration)
_AUTOMATIC_ID = re.compile(r"id\d+$")
_ANCHOR = re.compile(r"[\w:.-]+$")
_PARAMETERS = frozenset(["param", "parameter", "arg", "argument", "key", "keyword", "var", "ivar", "cvar"])
_SPHINX_NAMES = frozenset(("version", "release", "today"))
_LANGUAGES = {"math_block": "latex", "doctest_block": "python"}


class Writer:
    """One walk over a document. A block is a text, inline text is one line. `level` is that of the heading above.

    The methods `visit_…` return the blocks of a node, by the name of its class. Raises PageTooComplex.
    """

    def __init__(self, document: nodes.document, level: int = 0) -> None:
        self.document = document
        self.substitution_budget = MAX_MARKDOWN  # characters that substitutions may add
        self.open_substitutions: set[str] = set()
        self.level = level
        self.nesting = 0  # lists and quotes around, in which no heading is possible
        self.slugs: set[str] = set()
        self.has_title = level > 0

    def markdown(self) -> str:
        """The whole page."""
        return "\n\n".join(self.blocks(self.document.children)) + "\n"

    def blocks(self, children: Iterable[nodes.Node]) -> list[str]:
        """Some nodes, block by block. Text among them is a paragraph."""
        blocks: list[str] = []
        inline: list[nodes.Node] = []
        for node in children:
            if isinstance(node, nodes.Text | nodes.Inline) and not isinstance(node, nodes.image | nodes.target):
                inline.append(node)
                continue
            blocks += self._paragraph(inline)
            inline = []
            blocks += self._visit(node)
        return blocks + self._paragraph(inline)

    def _visit(self, node: nodes.Node) -> list[str]:
        """The blocks of one node: none, one or more."""
        if not isinstance(node, nodes.Element) or isinstance(node, _HIDDEN):
            return []
        if visit := getattr(self, f"visit_{type(node).__name__}", None):
            return list(visit(node))
        return self._paragraph(node.children) if isinstance(node, nodes.TextElement) else self.blocks(node.children)

    def _paragraph(self, children: Iterable[nodes.Node]) -> list[str]:
        return [text] if (text := escape_line_start(self.line(children))) else []

    def _nested_blocks(self, node: nodes.Element) -> list[str]:
        """The blocks in a list or a quote."""
        self.nesting += 1
        blocks = self.blocks(node.children)
        self.nesting -= 1
        return blocks

    def visit_section(self, node: nodes.Element) -> list[str]:
        """A section of the page, or a described object, which is never the page's title."""
        title = node.next_node(nodes.title)
        text = self.line(title.children) if title else ""
        outer_level = self.level
        is_object = bool(node.get("is_object"))
        self.level = max(self.level, 2) if node.get("is_continued") else max(self.level, int(is_object)) + 1
        is_heading = not self.nesting and (node["ids"] or not is_object)
        # The id by which Sphinx links it: its own, or a label's if its own is only a number.
        own, label = [*node["ids"], "", ""][:2]
        anchor = label if label and _AUTOMATIC_ID.match(own) else own
        blocks = [self._heading(text, anchor) if is_heading else f"**{text}**"] if text else []
        blocks += self.blocks(child for child in node.children if child is not title)
        self.level = outer_level
        return blocks

    def _heading(self, text: str, anchor: str) -> str:
        """A heading. It names its anchor if GitHub would give it another one."""
        level = min(self.level, 6)
        is_title = level == 1 and not self.has_title
        self.has_title = True
        default = slug(re.sub(r"\\(?=[^\w\s])|`", "", text))
        if is_title:
            self.slugs.add(default)
            return f"# {text}"
        is_default = default == anchor and default not in self.slugs
        self.slugs.add(default)
        explicit = "" if is_default or not _ANCHOR.match(anchor) else f" {{#{escape_text(anchor)}}}"
        return f"{'#' * level} {text}{explicit}"

    def visit_literal_block(self, node: nodes.Element) -> list[str]:
        text = node.astext().rstrip()
        language = node.get("language", _LANGUAGES.get(type(node).__name__, ""))
        return [fence(text, re.sub(r"[^\w+#.-]|^(?:none|text|default)$", "", language))] if text else []

    visit_math_block = visit_doctest_block = visit_literal_block

    def visit_system_message(self, node: nodes.Element) -> list[str]:
        """The original text, as code, of a directive or table in which docutils found an error."""
        return self.blocks(child for child in node.children if isinstance(child, nodes.literal_block))

    def visit_block_quote(self, node: nodes.Element) -> list[str]:
        """A quote. A list, a table or code that is only indented is none."""
        blocks = self._nested_blocks(node)
        if all(isinstance(child, nodes.Sequential | nodes.table | nodes.literal_block) for child in node.children):
            return blocks
        return ["\n".join(f"> {line}".rstrip() for line in "\n\n".join(blocks).split("\n"))]

    def visit_bullet_list(self, node: nodes.Element) -> list[str]:
        is_numbered = isinstance(node, nodes.enumerated_list)
        items = enumerate(_elements(node), node.get("start", 1))
        return _list((f"{number}. " if is_numbered else "- ", self._nested_blocks(item)) for number, item in items)

    visit_enumerated_list = visit_bullet_list

    def visit_definition_list(self, node: nodes.Element) -> list[str]:
        """Each term in bold, as an item with its meaning."""
        items = []
        for item in _elements(node):
            blocks: list[str] = []
            for part in _elements(item):
                if isinstance(part, nodes.definition):
                    blocks = [" ".join(blocks), *self._nested_blocks(part)]
                elif text := self.line(part.children):
                    blocks.append(f"**{text}**" if isinstance(part, nodes.term) else f"({text})")
            items.append(("- ", blocks))
        return _list(items)

    def visit_field_list(self, node: nodes.Element) -> list[str]:
        """Parameters and other fields, as a list."""
        items = []
        for name, body in map(_elements, _elements(node)):
            kind, _, parameter = name.astext().partition(" ")
            head = code_span(parameter) if kind in _PARAMETERS and parameter else f"**{self.line(name.children)}**"
            content = self._nested_blocks(body)
            if content and isinstance(body.children[0], nodes.paragraph):
                head = f"{head}: {content.pop(0)}"
            items.append(("- ", [head, *content]))
        return _list(items)

    def visit_line_block(self, node: nodes.Element) -> list[str]:
        lines = [escape_line_start(self.line(part.children)) for part in node.findall(nodes.line) if part.children]
        return ["  \n".join(lines)] if lines else []

    def visit_footnote(self, node: nodes.Element) -> list[str]:
        """A footnote with its number, where the page defines it."""
        label = node.next_node(nodes.label)
        text = self.blocks(child for child in node.children if child is not label)
        return [f"\\[{label.astext() if label else ''}\\] {text[0]}", *text[1:]] if text else []

    visit_citation = visit_footnote

    def visit_image(self, node: nodes.Element) -> list[str]:
        return self._paragraph([node])

    def visit_transition(self, node: nodes.Element) -> list[str]:
        return ["---"]

    def visit_title(self, node: nodes.Element) -> list[str]:
        text = self.line(node.children)
        return [f"**{text}**"] if text else []

    def visit_table(self, node: nodes.Element) -> list[str]:
        """The title, if there is one, then one row a line. A cell that spans rows is in the first of them only."""
        head: list[list[str]] = []
        body: list[list[str]] = []
        for row in node.findall(nodes.row):
            cells: list[str] = []
            for entry in _elements(row):
                cells += [self._cell(entry).replace("|", "\\|"), *[""] * entry.get("morecols", 0)]
            (head if isinstance(row.parent, nodes.thead) else body).append(cells)
        width = max(map(len, head + body), default=0)
        head = [[" ".join(filter(None, (row[at] for row in head if at < len(row)))) for at in range(width)]]
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in [*head, ["---"] * width, *body]]
        title = self.blocks(child for child in node.children if isinstance(child, nodes.title))
        return [*title, "\n".join(lines)] if width else []

    def _cell(self, node: nodes.Node) -> str:
        """The text of blocks on one line."""
        if isinstance(node, nodes.FixedTextElement):
            return code_span(node.astext())
        if isinstance(node, nodes.TextElement | nodes.image) or not isinstance(node, nodes.Element):
            return self.line([node])
        return " ".join(filter(None, map(self._cell, node.children)))

    def line(self, children: Iterable[nodes.Node]) -> str:
        """Some inline nodes as one line."""
        return nodes.whitespace_normalize_name("".join(map(self._inline, children)))

    def _inline(self, node: nodes.Node) -> str:
        if isinstance(node, nodes.Text | nodes.problematic):
            return escape_text(node.astext())
        if isinstance(node, nodes.substitution_reference):
            return self._substitute(node)
        if isinstance(node, nodes.image):  # search finds its description only
            return escape_text(node.get("alt", ""))
        if isinstance(node, nodes.footnote_reference | nodes.citation_reference):
            return f"\\[{node.astext()}\\]"
        if isinstance(node, nodes.literal | nodes.math):
            return code_span(node.astext())
        if not isinstance(node, nodes.Element) or (isinstance(node, _HIDDEN) and not isinstance(node, nodes.target)):
            return ""
        text = "".join(map(self._inline, node.children))
        if isinstance(node, nodes.reference):
            return _link(node, text)
        mark = "**" if isinstance(node, nodes.strong) else "*"
        is_marked = isinstance(node, nodes.strong | nodes.emphasis | nodes.title_reference)
        return f"{mark}{text.strip()}{mark}" if is_marked and text.strip() else text

    def _substitute(self, node: nodes.Element) -> str:
        """The text of `|name|`, or the name if it is not defined. Nothing for what a setting of Sphinx computes.

        The transform of docutils is not used: it has no limit for substitutions in substitutions.
        """
        name = node["refname"]
        key = name if name in self.document.substitution_defs else self.document.substitution_names.get(name.lower())
        if key is None and name.lower() in _SPHINX_NAMES:
            return ""  # "Django |version|" would become "Django version"
        if key is None or key in self.open_substitutions:
            return escape_text(node.astext())
        self.open_substitutions.add(key)
        text = "".join(map(self._inline, self.document.substitution_defs[key].children))
        self.open_substitutions.discard(key)
        self.substitution_budget -= len(text) + 1
        if self.substitution_budget < 0:
            raise PageTooComplex("substitutions in substitutions")
        return text


def _list(items: Iterable[tuple[str, list[str]]]) -> list[str]:
    """A list from marks and blocks. It is tight if each item is a single block."""
    filled = [(mark, blocks) for mark, blocks in items if blocks]
    texts = [mark + "\n\n".join(blocks).replace("\n", f"\n{' ' * len(mark)}") for mark, blocks in filled]
    between = "\n" if all(len(blocks) == 1 for _, blocks in filled) else "\n\n"
    return [between.join(re.sub(r"(?m)^ +$", "", text) for text in texts)] if texts else []


def _elements(node: nodes.Element) -> list[nodes.Element]:
    return [child for child in node.children if isinstance(child, nodes.Element)]


def _link(node: nodes.Element, text: str) -> str:
    target = node.get("refuri") or (f"#{node['refid']}" if node.get("refid") else "")
    if not target or not text.strip():
        return text
    if target.startswith("mailto:") and is_pseudo_address(node.astext()):
        return text
    target = target.replace("\n", "").replace(" ", "%20").replace("<", "%3C").replace(">", "%3E")
    if node.astext() == target and target.startswith(("http://", "https://")):
        return f"<{target}>"
    return f"[{' '.join(text.split())}]({f'<{target}>' if '(' in target or ')' in target else target})"
