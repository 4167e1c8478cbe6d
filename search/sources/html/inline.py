"""Running text of a web page to Markdown that shows the same text."""

import re
from collections.abc import Iterable
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborNode

from search.text.markdown.writer import code_span, escape_line_start, escape_text

_MAX_DEPTH = 40  # levels of markup within a line; what is deeper is plain text
_SPACE = re.compile(r"[ \t\n\r\f\v\xa0\u2028\u2029]+")
_CODE = frozenset(("code", "tt", "samp", "kbd"))
_STRONG = frozenset(("strong", "b"))
_EMPHASIS = frozenset(("em", "i", "cite", "dfn", "var"))
# Marks until the text around them is known: Markdown takes `**` for emphasis only beside certain characters.
_STRONG_OPEN, _STRONG_CLOSE, _OPEN, _CLOSE, BREAK = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004"
_MARKED = re.compile(f"([{_STRONG_OPEN}{_OPEN}])([^\ue000-\ue003]*)[{_STRONG_CLOSE}{_CLOSE}]")
_MARKS = re.compile("[\ue000-\ue003]")
_POWER = re.compile(r"[-−+]?\d+|[a-z]")
_TEX_MARKS = re.compile(r"^\s*(?:\\\(|\\\[|\${1,2})\s*|\s*(?:\\\)|\\\]|\${1,2})\s*$")


class Inline:
    """Turns nodes within a paragraph into Markdown. `base` is what links are resolved against."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.marks = True  # whether there are to be links and emphasis

    def paragraph(self, nodes: list[LexborNode]) -> str:
        """The text of some nodes, with its line breaks and nothing that begins a line as a block would."""
        lines = [line.strip() for line in self._finish(nodes).split(BREAK)]
        return "  \n".join(escape_line_start(line) for line in lines if line)

    def line(self, nodes: list[LexborNode]) -> str:
        """The same as a single line, for a cell."""
        return _SPACE.sub(" ", self._finish(nodes).replace(BREAK, " ")).strip()

    def plain_line(self, nodes: list[LexborNode]) -> str:
        """A single line without links and emphasis, for a heading."""
        self.marks = False
        try:
            return self.line(nodes)
        finally:
            self.marks = True

    def _finish(self, nodes: list[LexborNode]) -> str:
        text = _join(self._of(node, 0) for node in nodes)
        text = re.sub(f" *{BREAK} *", BREAK, re.sub(" {2,}", " ", text)).strip()
        return _MARKS.sub("", _MARKED.sub(_emphasis, text))

    def _of(self, node: LexborNode, depth: int) -> str:
        tag = node.tag or ""
        if tag == "-text":
            return escape_text(node.text_content or "")
        if tag.startswith("-"):
            return ""
        if tag == "br":
            return BREAK
        if tag == "img":
            return escape_text(node.attributes.get("alt") or "")
        if tag in _CODE or tag == "pre":
            return code_span(node.text())
        if tag == "math" or "math" in (node.attributes.get("class") or "").split() or tag == "mjx-container":
            return code_span(tex(node))
        if depth > _MAX_DEPTH:
            return escape_text(node.text())
        inner = _join(self._of(child, depth + 1) for child in node.iter(include_text=True))
        if tag == "a":
            return self._link(node, inner)
        if (tag in _STRONG or tag in _EMPHASIS) and self.marks:
            opening, closing = (_STRONG_OPEN, _STRONG_CLOSE) if tag in _STRONG else (_OPEN, _CLOSE)
            return _wrap_text(_MARKS.sub("", inner), opening, closing)
        if tag == "sup" and _POWER.fullmatch(inner.strip()):
            return f"^{inner.strip()}"
        if tag == "q":
            return f"“{inner}”"
        return f" {inner} " if tag in ("td", "th", "dt", "dd", "li", "p", "div", "option") else inner

    def _link(self, node: LexborNode, inner: str) -> str:
        href = node.attributes.get("href") or ""
        target = self.resolve(href) if self.marks and BREAK not in inner else ""
        if not target:
            return inner
        return _wrap_text(_MARKS.sub("", inner), "[", f"]({target})")

    def resolve(self, href: str) -> str:
        """The absolute address of a link, escaped for Markdown; empty for what is no address of the web or mail."""
        target = absolute(self.base, href) if href.strip() else ""
        return re.sub(r"[\s()<>\[\]\\`*|\"]", lambda found: f"%{ord(found[0]):02X}", target)


def absolute(base: str, href: str) -> str:
    """An absolute link; empty for invalid links and for schemes other than http, https and mailto."""
    try:
        target = urljoin(base, href.strip())
        return target if urlsplit(target).scheme in ("http", "https", "mailto") else ""
    except ValueError:
        return ""


def tex(node: LexborNode) -> str:
    """A formula as its author wrote it, if the page has that, else its text."""
    source = node.css_first('annotation[encoding="application/x-tex"]')
    return _SPACE.sub(" ", _TEX_MARKS.sub("", (source or node).text()))


def _join(pieces: Iterable[str]) -> str:
    """The pieces in a row; a link behind an exclamation mark would be an image."""
    out: list[str] = []
    for piece in filter(None, pieces):
        if piece.startswith("[") and out and out[-1].endswith("!"):
            out[-1] = f"{out[-1][:-1]}\\!"
        out.append(piece)
    return "".join(out)


def _wrap_text(inner: str, opening: str, closing: str) -> str:
    bare = inner.strip(" " + BREAK)
    if not bare:
        return inner
    at = inner.index(bare)
    return f"{inner[:at]}{opening}{bare}{closing}{inner[at + len(bare) :]}"


def _emphasis(found: re.Match[str]) -> str:
    """Emphasis where CommonMark's rules (6.2) let it open and close; else the text alone."""
    inner, text = found[2], found.string
    mark = "**" if found[1] == _STRONG_OPEN else "*"
    before = text[found.start() - 1] if found.start() else " "
    after = text[found.end()] if found.end() < len(text) else " "
    opens = inner[:1].isalnum() or not before.isalnum()
    closes = inner[-1:].isalnum() or not after.isalnum()
    apart = not set(before + after) & set("*\ue000\ue001\ue002\ue003")
    return f"{mark}{inner}{mark}" if opens and closes and apart and BREAK not in inner else inner
