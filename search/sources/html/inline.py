"""Convert the inline content of a web page to Markdown that shows the same text."""

import re
from collections.abc import Iterable

from selectolax.lexbor import LexborNode

from docsite.core.unicode.addresses import urljoin, urlsplit
from search.text.markdown.links import is_pseudo_address
from search.text.markdown.writer import code_span, escape_line_start, escape_text, subscript, superscript

_MAX_DEPTH = 40  # levels of nested inline markup; deeper markup becomes plain text
_SPACE = re.compile(r"[ \t\n\r\f\v\xa0\u2028\u2029]+")
_CODE = frozenset(("code", "tt", "samp", "kbd"))
_STRONG = frozenset(("strong", "b"))
_EMPHASIS = frozenset(("em", "i", "cite", "dfn", "var"))
# Placeholders for emphasis: only with the text around it can we know whether Markdown accepts `**` there.
_STRONG_OPEN, _STRONG_CLOSE, _OPEN, _CLOSE, BREAK = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004"
_MARKED = re.compile(f"([{_STRONG_OPEN}{_OPEN}])([^\ue000-\ue003]*)[{_STRONG_CLOSE}{_CLOSE}]")
_MARKS = re.compile("[\ue000-\ue003]")
_DELETED = frozenset(("s", "strike", "del"))
_TEX_MARKS = re.compile(r"^\s*(?:\\\(|\\\[|\${1,2})\s*|(?:(?<!\s)\s++|)(?:\\\)|\\\]|\${1,2})\s*$")


class Inline:
    """Converts inline nodes to Markdown. Links are relative to `base`."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.allow_marks = True  # whether to write links and emphasis

    def paragraph(self, nodes: list[LexborNode]) -> str:
        """The nodes as a paragraph: with line breaks, escaped so that no line begins another block."""
        lines = [line.strip() for line in self._convert(nodes).split(BREAK)]
        return "  \n".join(escape_line_start(line) for line in lines if line)

    def line(self, nodes: list[LexborNode]) -> str:
        """The nodes as a single line, for a table cell."""
        return _SPACE.sub(" ", self._convert(nodes).replace(BREAK, " ")).strip()

    def plain_line(self, nodes: list[LexborNode]) -> str:
        """The nodes as a single line without links and emphasis, for a heading."""
        self.allow_marks = False
        try:
            return self.line(nodes)
        finally:
            self.allow_marks = True

    def _convert(self, nodes: list[LexborNode]) -> str:
        text = _join(self._convert_node(node, 0) for node in nodes)
        text = re.sub(f" ?{BREAK} ?", BREAK, re.sub(" {2,}", " ", text)).strip()
        return _MARKS.sub("", _MARKED.sub(_emphasize, text))

    def _convert_node(self, node: LexborNode, depth: int) -> str:
        tag = node.tag or ""
        if tag == "-text":
            return escape_text(node.text_content or "")
        if tag.startswith("-"):
            return ""
        if tag in _DELETED and self.allow_marks:  # a heading keeps its text
            return ""
        if tag == "br":
            return BREAK
        if tag == "img":
            return escape_text(node.attributes.get("alt") or "")
        if tag in _CODE or tag == "pre":
            return code_span(node.text())
        if tag == "math" or "math" in (node.attributes.get("class") or "").split() or tag == "mjx-container":
            return code_span(get_tex(node))
        if depth > _MAX_DEPTH:
            return escape_text(node.text())
        inner = _join(self._convert_node(child, depth + 1) for child in node.iter(include_text=True))
        if tag == "a":
            return self._link(node, inner)
        if (tag in _STRONG or tag in _EMPHASIS) and self.allow_marks:
            opening, closing = (_STRONG_OPEN, _STRONG_CLOSE) if tag in _STRONG else (_OPEN, _CLOSE)
            return _wrap(_MARKS.sub("", inner), opening, closing)
        if tag == "sup":
            return superscript(inner.strip()) if inner.strip() else inner
        if tag == "sub":
            return subscript((node.prev and node.prev.text()) or "", inner)
        if tag == "q":
            return f"“{inner}”"
        return f" {inner} " if tag in ("td", "th", "dt", "dd", "li", "p", "div", "option") else inner

    def _link(self, node: LexborNode, inner: str) -> str:
        href = node.attributes.get("href") or ""
        target = self.resolve(href) if self.allow_marks and BREAK not in inner else ""
        if not target or (target.startswith("mailto:") and is_pseudo_address(node.text().strip())):
            return inner
        return _wrap(_MARKS.sub("", inner), "[", f"]({target})")

    def resolve(self, href: str) -> str:
        """The absolute address of a link, escaped for Markdown; empty unless it is http, https or mailto."""
        target = make_absolute(self.base, href) if href.strip() else ""
        return re.sub(r"[\s()<>\[\]\\`*|\"]", lambda found: f"%{ord(found[0]):02X}", target)


def make_absolute(base: str, href: str) -> str:
    """The absolute address; empty if it is invalid or has another scheme than http, https and mailto."""
    try:
        target = urljoin(base, href.strip())
        return target if urlsplit(target).scheme in ("http", "https", "mailto") else ""
    except ValueError:
        return ""


def get_tex(node: LexborNode) -> str:
    """The TeX source of a formula if the page contains it, else the formula's text."""
    source = node.css_first('annotation[encoding="application/x-tex"]')
    return _SPACE.sub(" ", _TEX_MARKS.sub("", (source or node).text()))


def _join(pieces: Iterable[str]) -> str:
    """Join the pieces so that they do not become other markup: no image from a mark and a link, no span from two."""
    out: list[str] = []
    for piece in filter(None, pieces):
        if piece.startswith("[") and out and out[-1].endswith("!"):
            out[-1] = f"{out[-1][:-1]}\\!"
        elif piece.startswith("`") and out and out[-1].endswith("`") and not out[-1].endswith("\\`"):
            out.append(" ")
        out.append(piece)
    return "".join(out)


def _wrap(inner: str, opening: str, closing: str) -> str:
    bare = inner.strip(" " + BREAK)
    if not bare:
        return inner
    at = inner.index(bare)
    return f"{inner[:at]}{opening}{bare}{closing}{inner[at + len(bare) :]}"


def _emphasize(found: re.Match[str]) -> str:
    """The text with emphasis if CommonMark's rules (6.2) let it open and close here, else without."""
    inner, text = found[2], found.string
    mark = "**" if found[1] == _STRONG_OPEN else "*"
    before = text[found.start() - 1] if found.start() else " "
    after = text[found.end()] if found.end() < len(text) else " "
    opens = inner[:1].isalnum() or not before.isalnum()
    closes = inner[-1:].isalnum() or not after.isalnum()
    is_separate = not set(before + after) & set("*\ue000\ue001\ue002\ue003")
    return f"{mark}{inner}{mark}" if opens and closes and is_separate and BREAK not in inner else inner
