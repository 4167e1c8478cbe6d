"""The content of a web page to Markdown, block by block."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest

from selectolax.lexbor import LexborNode

from search.sources.html.code import code_block
from search.sources.html.inline import Inline, escape, tex
from search.sources.html.table import is_data, table
from search.text.markdown.cleaning import clean
from search.text.markdown.plain_text import anchor_and_heading, plain, slug

_MAX_DEPTH = 60  # blocks in each other; what is deeper is plain text
_HEADED = "h1, h2, h3, h4, h5, h6"  # a list whose items have headings is one of sections, as in javadoc
_LEVELS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "li", "main", "menu", "ol"),
        *("p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", *_LEVELS),
    )
)
# The titles of admonitions, as Sphinx, Material, Docusaurus, VitePress, Starlight, GitHub and Bootstrap name them.
_TITLE = re.compile(r"(?:admonition|custom-block|alert|aside|callout)[\w-]*?(?:title|heading)", re.IGNORECASE)
_TABBED = frozenset(("tabbed-set", "sphinx-tabs", "tabs-container", "vp-code-group", "sd-tab-set"))
_LABELS = "[role=tab], .tabbed-labels > label, .tabs > label, .sd-tab-set > label"
_PANELS = "[role=tabpanel], .tabbed-block, .blocks > div, .sd-tab-content"
_NAME = ".sig-name, .descname, .name, .ident, code"  # in the entry of a reference
_ANCHOR = re.compile(r"[^\s{}#]{1,300}")


def to_markdown(content: LexborNode, base: str, title: str) -> str:
    """The Markdown of a page's content, below its title. Links are resolved against `base`."""
    first = content.css_first(_HEADED)
    writer = _Writer(content, base)
    above = [] if first and first.tag == "h1" else writer.write_heading(1, escape(title), "")
    blocks = list(writer.blocks(content, 0))
    return "\n\n".join([*above, *blocks]) + "\n" if blocks else ""


class _Writer:
    """One walk over the content. It remembers the current heading and the last anchor."""

    def __init__(self, content: LexborNode, base: str) -> None:
        self.inline = Inline(base)
        self.counts: dict[str, int] = {}  # anchors of headings so far, as `search.text.sections` counts them
        self.titled = False
        self.level = 1  # of the heading above
        self.within = 0  # lists, quotes and the like around, in which a heading would begin no section
        self.pending = ""  # the anchor that was passed since the last text
        self.near = ""  # the last anchor of all
        self.section = ""  # the anchor of the section that began last
        self.holders: set[int] = set()  # elements with blocks in them
        for node in content.css(", ".join(_BLOCKS)):
            parent = node.parent
            while parent is not None and parent.mem_id not in self.holders:
                self.holders.add(parent.mem_id)
                parent = parent.parent

    def blocks(self, node: LexborNode, depth: int) -> Iterator[str]:
        """The blocks in an element, each without blank lines around it."""
        run: list[LexborNode] = []
        for child in node.iter(include_text=True):
            if child.tag in _BLOCKS or child.mem_id in self.holders:
                yield from self._paragraph(run)
                run = []
                yield from self._block(child, depth + 1)
            else:
                run.append(child)
        yield from self._paragraph(run)

    def write_heading(self, level: int, text: str, anchor: str) -> list[str]:
        """A heading, with its anchor if `search.text.sections` would give another one. In a list, a bold line."""
        self.pending = ""
        if not text:
            return []
        if self.within:
            return [f"**{text}**"]
        text = re.sub(r"#$", r"\\#", text)
        self.level = level
        visible = plain(clean(f"# {text}"))
        if level == 1 and not self.titled:
            self.titled = True
            anchor_and_heading(visible, self.counts)
            return [f"# {text}"]
        self.titled = True
        name = slug(visible)
        trial = {name: self.counts.get(name, 0)}
        made, _ = anchor_and_heading(visible, trial)
        if not anchor or made == anchor:
            self.counts.update(trial)
            return [f"{'#' * level} {text}"]
        return [f"{'#' * level} {text} {{#{escape(anchor)}}}"]

    def _paragraph(self, run: list[LexborNode]) -> Iterator[str]:
        text = self.inline.paragraph(run) if run else ""
        for node in run:
            if not node.tag or node.tag.startswith("-"):
                continue
            self._note_anchor(node)
            for inner in node.css("[id], a[name]"):
                self._note_anchor(inner)
        if text:
            self.pending = ""
            yield text

    def _note_anchor(self, node: LexborNode) -> None:
        """Keep an element's anchor for the next heading. A section's own anchor wins over those inside it."""
        anchor = _anchor(node)
        is_section = node.tag == "section" or "section" in (node.attributes.get("class") or "").split()
        if anchor and (is_section or not self.pending or self.pending != self.section):
            self.pending = self.near = anchor
            self.section = anchor if is_section else ""

    def _block(self, node: LexborNode, depth: int) -> Iterator[str]:
        tag = node.tag or ""
        classes = node.attributes.get("class") or ""
        if tag in _LEVELS:
            yield from self._heading(node, _LEVELS[tag])
            return
        self._note_anchor(node)
        if depth > _MAX_DEPTH:
            yield from filter(None, [escape(node.text()).strip()])
        elif tag == "pre":
            yield from self._text(code_block(node))
        elif tag in ("ul", "ol", "menu") and (self.within or not node.css_first(_HEADED)):
            yield from self._text(self._list(node, depth))
        elif tag == "dl":
            yield from self._entries(node, depth)
        elif tag == "blockquote":
            with self._inside():
                quoted = "\n\n".join(self.blocks(node, depth))
            yield from self._text("\n".join(f"> {line}".rstrip() for line in quoted.split("\n")) if quoted else "")
        elif tag == "table" and is_data(node):
            for caption in node.css("caption"):
                yield from self._bold(caption)
            yield from self._text(table(node, lambda cell: self.inline.line([cell])))
        elif (tag in ("summary", "dt") and not node.css_first(_HEADED)) or (
            _TITLE.search(classes) and node.mem_id not in self.holders
        ):
            yield from self._bold(node)
        elif _is_tabbed(node, classes):
            yield from self._tabs(node, depth)
        elif "math" in classes.split() and node.mem_id not in self.holders:
            yield from self._text(f"```math\n{tex(node).strip()}\n```")
        elif "attr" in classes.split() and self.pending and node.css_first(".name"):  # pdoc
            yield from self._entry(node, self.pending, 2 + self.pending.count("."))
        else:
            yield from self.blocks(node, depth)

    def _text(self, block: str) -> Iterator[str]:
        if block:
            self.pending = ""
            yield block

    def _heading(self, node: LexborNode, level: int) -> Iterator[str]:
        inner = next(filter(None, map(_anchor, node.css("[id], a[name]"))), "")
        anchor = _anchor(node) or inner or self.pending or self.near
        self.near = anchor
        yield from self.write_heading(level, self.inline.plain_line([node]), anchor)

    def _bold(self, node: LexborNode) -> Iterator[str]:
        text = self.inline.plain_line([node])
        yield from self._text(f"**{text}**" if text else "")

    def _list(self, node: LexborNode, depth: int) -> str:
        start = node.attributes.get("start") or "1"
        number = int(start) if start.isdecimal() and len(start) < 9 else 1
        items = []
        for item in node.iter():
            with self._inside():
                blocks = list(self.blocks(item, depth) if item.tag == "li" else self._block(item, depth + 1))
            if not blocks:
                continue
            marker = f"{number}. " if node.tag == "ol" else "- "
            number += 1
            text = "".join(("\n" if block.startswith("- ") else "\n\n") + block for block in blocks).strip("\n")
            items.append(marker + re.sub(r"\n(?=[^\n])", f"\n{' ' * len(marker)}", text))
        return ("\n\n" if any("\n\n" in item for item in items) else "\n").join(items)

    def _entries(self, node: LexborNode, depth: int) -> Iterator[str]:
        """A list of definitions, or of a reference's entries: these are sections of the page."""
        level = self.level
        for child in node.iter():
            if child.tag == "div":  # groups a term with its definition
                yield from self._entries(child, depth)
            elif child.tag == "dt":
                anchor = _anchor(child) or next(filter(None, map(_anchor, child.css("[id], a[name]"))), "")
                if anchor and not self.within and child.css_first(_NAME):
                    yield from self._entry(child, anchor, min(level + 1, 6))
                else:
                    yield from self._block(child, depth + 1)
            else:
                yield from self._block(child, depth + 1)
        self.level = level

    def _entry(self, node: LexborNode, anchor: str, level: int) -> Iterator[str]:
        """An entry of a reference: its full name as a heading, then its signature."""
        signature = " ".join(node.text().split())
        named = node.css_first(_NAME)
        name = " ".join(named.text().split()) if named else signature
        if anchor.endswith(f".{name}"):
            name = anchor  # as Sphinx, pydoc and pdoc name what they document
        elif signature.startswith(name) and len(signature) <= len(name) + 20:
            name = signature  # an option with its value
        self.near = anchor
        yield from self.write_heading(min(level, 6), escape(name), anchor)
        if not name.endswith(signature):
            yield f"```\n{signature}\n```" if "`" in signature else f"`{signature}`"

    def _tabs(self, node: LexborNode, depth: int) -> Iterator[str]:
        """Tabs one below the other, each below its label."""
        panels = _outermost(node, node.css(_PANELS), set())
        within = {panel.mem_id for panel in panels}
        labels = _outermost(node, node.css(_LABELS), within)
        for label, panel in zip_longest(labels, panels):
            if label is not None:
                yield from self._bold(label)
            if panel is not None:
                yield from self._block(panel, depth + 1)

    @contextmanager
    def _inside(self) -> Iterator[None]:
        self.within += 1
        yield
        self.within -= 1


def _anchor(node: LexborNode) -> str:
    """The fragment of a link to an element; empty when it has none."""
    given = node.attributes
    anchor = given.get("id") or (given.get("name") if node.tag == "a" else "") or ""
    return anchor if _ANCHOR.fullmatch(anchor) else ""


def _is_tabbed(node: LexborNode, classes: str) -> bool:
    if not _TABBED.isdisjoint(classes.split()):
        return True
    return any(child.attributes.get("role") == "tablist" for child in node.iter())


def _outermost(around: LexborNode, nodes: list[LexborNode], barred: set[int]) -> list[LexborNode]:
    """The elements within `around` that lie neither in each other nor in a barred element."""
    kept: list[LexborNode] = []
    taken = set(barred)
    for node in nodes:
        parent = node.parent
        while parent is not None and parent.mem_id != around.mem_id and parent.mem_id not in taken:
            parent = parent.parent
        if parent is not None and parent.mem_id == around.mem_id:
            kept.append(node)
            taken.add(node.mem_id)
    return kept
