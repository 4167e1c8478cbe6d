"""Convert the content of a web page to Markdown, block by block."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest

from selectolax.lexbor import LexborNode

from search.sources.html.code import code_block
from search.sources.html.inline import Inline, get_tex
from search.sources.html.table import is_data_table, render_table
from search.text.markdown.cleaning import clean
from search.text.markdown.plain_text import anchor_and_heading, plain, slug
from search.text.markdown.writer import escape_text

_MAX_DEPTH = 60  # levels of nested blocks; deeper ones become plain text
_HEADINGS = "h1, h2, h3, h4, h5, h6"  # list items with headings are sections, as in javadoc
_LEVELS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "li", "main", "menu", "ol"),
        *("p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", *_LEVELS),
    )
)
# The titles of admonitions, as Sphinx, Material, Docusaurus, VitePress, Starlight, GitHub and Bootstrap name them.
_CLASS = re.compile(r"[\w-]+")
_CALLOUT = re.compile(r"admonition|custom-block|alert|aside|callout", re.IGNORECASE)
_TITLE = re.compile(r"title|heading", re.IGNORECASE)
_TAB_SETS = frozenset(("tabbed-set", "sphinx-tabs", "tabs-container", "vp-code-group", "sd-tab-set"))
_TAB_LABELS = "[role=tab], .tabbed-labels > label, .tabs > label, .sd-tab-set > label"
_TAB_PANELS = "[role=tabpanel], .tabbed-block, .blocks > div, .sd-tab-content"
_ENTRY_NAME = ".sig-name, .descname, .name, .ident, code"  # the name in an entry of an API reference
_ANCHOR = re.compile(r"[^\s{}#]{1,300}")


def to_markdown(content: LexborNode, base: str, title: str) -> str:
    """Convert the content to Markdown; `title` stands above it unless it has an `h1`. Links are relative to `base`."""
    first = content.css_first(_HEADINGS)
    writer = _Writer(content, base)
    above = [] if first and first.tag == "h1" else writer.write_heading(1, escape_text(title), "")
    blocks = list(writer.blocks(content, 0))
    return "\n\n".join([*above, *blocks]) + "\n" if blocks else ""


class _Writer:
    """Walks over the content once. It remembers the current heading and the last anchor."""

    def __init__(self, content: LexborNode, base: str) -> None:
        self.inline = Inline(base)
        self.counts: dict[str, int] = {}  # repeats of each anchor, as `search.text.sections` counts them
        self.has_title = False
        self.level = 1  # of the current heading
        self.nesting = 0  # open lists and quotes; a heading inside them begins no section
        self.pending_anchor = ""  # an anchor since the last text
        self.last_anchor = ""  # the last anchor on the page
        self.section_anchor = ""  # the anchor of the current section element
        self.container_ids: set[int] = set()  # elements that contain blocks
        for node in content.css(", ".join(_BLOCKS)):
            parent = node.parent
            while parent is not None and parent.mem_id not in self.container_ids:
                self.container_ids.add(parent.mem_id)
                parent = parent.parent

    def blocks(self, node: LexborNode, depth: int) -> Iterator[str]:
        """Yield the blocks in an element, without blank lines around them."""
        run: list[LexborNode] = []
        for child in node.iter(include_text=True):
            if child.tag in _BLOCKS or child.mem_id in self.container_ids:
                yield from self._paragraph(run)
                run = []
                yield from self._block(child, depth + 1)
            else:
                run.append(child)
        yield from self._paragraph(run)

    def write_heading(self, level: int, text: str, anchor: str) -> list[str]:
        """A heading, with its anchor if `search.text.sections` would give it another. In a list it is a bold line."""
        self.pending_anchor = ""
        if not text:
            return []
        if self.nesting:
            return [f"**{text}**"]
        text = re.sub(r"#$", r"\\#", text)
        self.level = level
        visible = plain(clean(f"# {text}"))
        if level == 1 and not self.has_title:
            self.has_title = True
            anchor_and_heading(visible, self.counts)
            return [f"# {text}"]
        self.has_title = True
        name = slug(visible)
        trial = {name: self.counts.get(name, 0)}
        github_anchor, _ = anchor_and_heading(visible, trial)
        if not anchor or github_anchor == anchor:
            self.counts.update(trial)
            return [f"{'#' * level} {text}"]
        return [f"{'#' * level} {text} {{#{escape_text(anchor)}}}"]

    def _paragraph(self, run: list[LexborNode]) -> Iterator[str]:
        text = self.inline.paragraph(run) if run else ""
        for node in run:
            if not node.tag or node.tag.startswith("-"):
                continue
            self._note_anchor(node)
            for inner in node.css("[id], a[name]"):
                self._note_anchor(inner)
        if text:
            self.pending_anchor = ""
            yield text

    def _note_anchor(self, node: LexborNode) -> None:
        """Remember an element's anchor for the next heading. A section's own anchor wins over anchors inside it."""
        anchor = _anchor(node)
        is_section = node.tag == "section" or "section" in (node.attributes.get("class") or "").split()
        if anchor and (is_section or not self.pending_anchor or self.pending_anchor != self.section_anchor):
            self.pending_anchor = self.last_anchor = anchor
            self.section_anchor = anchor if is_section else ""

    def _block(self, node: LexborNode, depth: int) -> Iterator[str]:
        tag = node.tag or ""
        classes = node.attributes.get("class") or ""
        if tag in _LEVELS:
            yield from self._heading(node, _LEVELS[tag])
            return
        self._note_anchor(node)
        if depth > _MAX_DEPTH:
            yield from filter(None, [escape_text(node.text()).strip()])
        elif tag == "pre":
            yield from self._text(code_block(node))
        elif tag in ("ul", "ol", "menu") and (self.nesting or not node.css_first(_HEADINGS)):
            yield from self._text(self._list(node, depth))
        elif tag == "dl":
            yield from self._entries(node, depth)
        elif tag == "blockquote":
            with self._nest():
                quoted = "\n\n".join(self.blocks(node, depth))
            yield from self._text("\n".join(f"> {line}".rstrip() for line in quoted.split("\n")) if quoted else "")
        elif tag == "table" and is_data_table(node):
            for caption in node.css("caption"):
                yield from self._bold(caption)
            yield from self._text(render_table(node, lambda cell: self.inline.line([cell])))
        elif (tag in ("summary", "dt") and not node.css_first(_HEADINGS)) or (
            _is_title(classes) and node.mem_id not in self.container_ids
        ):
            yield from self._bold(node)
        elif not _TAB_SETS.isdisjoint(classes.split()) or any(
            child.attributes.get("role") == "tablist" for child in node.iter()
        ):
            yield from self._tabs(node, depth)
        elif "math" in classes.split() and node.mem_id not in self.container_ids:
            yield from self._text(f"```math\n{get_tex(node).strip()}\n```")
        elif "attr" in classes.split() and self.pending_anchor and node.css_first(".name"):  # pdoc
            yield from self._entry(node, self.pending_anchor, 2 + self.pending_anchor.count("."))
        else:
            yield from self.blocks(node, depth)

    def _text(self, block: str) -> Iterator[str]:
        if block:
            self.pending_anchor = ""
            yield block

    def _heading(self, node: LexborNode, level: int) -> Iterator[str]:
        inner = next(filter(None, map(_anchor, node.css("[id], a[name]"))), "")
        anchor = _anchor(node) or inner or self.pending_anchor or self.last_anchor
        self.last_anchor = anchor
        yield from self.write_heading(level, self.inline.plain_line([node]), anchor)

    def _bold(self, node: LexborNode) -> Iterator[str]:
        text = self.inline.plain_line([node])
        yield from self._text(f"**{text}**" if text else "")

    def _list(self, node: LexborNode, depth: int) -> str:
        start = node.attributes.get("start") or "1"
        number = int(start) if start.isdecimal() and len(start) < 9 else 1
        items = []
        for item in node.iter():
            with self._nest():
                blocks = list(self.blocks(item, depth) if item.tag == "li" else self._block(item, depth + 1))
            if not blocks:
                continue
            marker = f"{number}. " if node.tag == "ol" else "- "
            number += 1
            text = "".join(("\n" if block.startswith("- ") else "\n\n") + block for block in blocks).strip("\n")
            items.append(marker + re.sub(r"\n(?=[^\n])", f"\n{' ' * len(marker)}", text))
        return ("\n\n" if any("\n\n" in item for item in items) else "\n").join(items)

    def _entries(self, node: LexborNode, depth: int) -> Iterator[str]:
        """Convert a definition list. Entries of an API reference become sections of the page."""
        level = self.level
        for child in node.iter():
            if child.tag == "div":  # groups a term with its definition
                yield from self._entries(child, depth)
                continue
            anchor = ""
            if child.tag == "dt" and not self.nesting and child.css_first(_ENTRY_NAME):
                anchor = _anchor(child) or next(filter(None, map(_anchor, child.css("[id], a[name]"))), "")
            if anchor:
                yield from self._entry(child, anchor, min(level + 1, 6))
            else:
                yield from self._block(child, depth + 1)
        self.level = level

    def _entry(self, node: LexborNode, anchor: str, level: int) -> Iterator[str]:
        """An entry of an API reference: its full name as a heading, then its signature."""
        signature = " ".join(node.text().split())
        named = node.css_first(_ENTRY_NAME)
        name = " ".join(named.text().split()) if named else signature
        if anchor.endswith(f".{name}"):
            name = anchor  # the full name, as in Sphinx, pydoc and pdoc
        elif signature.startswith(name) and len(signature) <= len(name) + 20:
            name = signature  # an option with its value
        self.last_anchor = anchor
        yield from self.write_heading(min(level, 6), escape_text(name), anchor)
        if not name.endswith(signature):
            yield f"```\n{signature}\n```" if "`" in signature else f"`{signature}`"

    def _tabs(self, node: LexborNode, depth: int) -> Iterator[str]:
        """Yield the tabs one after the other, each below its label."""
        panels = _outermost(node, node.css(_TAB_PANELS), set())
        panel_ids = {panel.mem_id for panel in panels}
        labels = _outermost(node, node.css(_TAB_LABELS), panel_ids)
        for label, panel in zip_longest(labels, panels):
            if label is not None:
                yield from self._bold(label)
            if panel is not None:
                yield from self._block(panel, depth + 1)

    @contextmanager
    def _nest(self) -> Iterator[None]:
        self.nesting += 1
        yield
        self.nesting -= 1


def _anchor(node: LexborNode) -> str:
    """The fragment that links to an element; empty for none."""
    attributes = node.attributes
    anchor = attributes.get("id") or (attributes.get("name") if node.tag == "a" else "") or ""
    return anchor if _ANCHOR.fullmatch(anchor) else ""


def _is_title(classes: str) -> bool:
    """Whether an element is the title of a callout, such as `admonition-title`."""
    return any(
        (callout := _CALLOUT.search(name)) and _TITLE.search(name, callout.end()) for name in _CLASS.findall(classes)
    )


def _outermost(root: LexborNode, nodes: list[LexborNode], excluded: set[int]) -> list[LexborNode]:
    """The elements in `root` that lie neither in each other nor in an excluded element."""
    outermost: list[LexborNode] = []
    covered = set(excluded)
    for node in nodes:
        parent = node.parent
        while parent is not None and parent.mem_id != root.mem_id and parent.mem_id not in covered:
            parent = parent.parent
        if parent is not None and parent.mem_id == root.mem_id:
            outermost.append(node)
            covered.add(node.mem_id)
    return outermost
