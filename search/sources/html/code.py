"""Code on a web page: its text line by line, and its language, whatever highlights it."""

import re

from selectolax.lexbor import LexborNode

from search.text.markdown.reader import fence

_NAMED = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?|source)[-\s]([\w+#.-]+)", re.IGNORECASE
)
_BARE = re.compile(r"(?:^|\s)(?:sourceCode|hljs|prettyprint)\s+([\w+#-]+)$")  # pandoc's, highlight.js's
_UNNAMED = frozenset(
    ("default", "none", "text", "plaintext", "plain", "txt", "highlight", "highlighter-rouge", "undefined")
)
_ROWS = frozenset(("div", "p", "li", "tr", "section"))
_LINE = re.compile(r"(?:^|\s)(?:line|token-line|code-line|ec-line|view-line|cl)(?:\s|$)")
_LOOKED_UP = 5  # elements in and around the code that may tell its language
_NUMBERED = frozenset(("table", "tbody", "tr", "td"))  # in which code stands beside the numbers of its lines
_BOXES = _NUMBERED | {"pre", "code", "div", "figure", "span"}


def code_block(pre: LexborNode) -> str:
    """A block of code as Markdown; empty when there is none in it."""
    code = text_of(pre)
    if not code.strip():
        return ""
    return fence(code, language_of(pre))


def language_of(pre: LexborNode) -> str:
    """The language that classes and attributes of the block, or of elements in or around it, name; else empty."""
    inner = pre.css_first("code")
    around = [inner] if inner else []
    node: LexborNode | None = pre
    while node is not None and node.tag in _BOXES and len(around) < _LOOKED_UP:
        if node.tag not in _NUMBERED:
            around.append(node)
        node = node.parent
    for element in around:
        given = element.attributes
        names = [given.get("data-lang"), given.get("data-language"), *_in_classes(given.get("class") or "")]
        for name in names:
            if name:
                return "" if name.lower() in _UNNAMED else re.sub(r"[^\w+#.-]", "", name.lower())[:30]
    return ""


def _in_classes(classes: str) -> list[str]:
    found = [name for name in _NAMED.findall(classes) if name.lower() not in ("highlight", "highlighter-rouge")]
    return found + _BARE.findall(classes)


def text_of(pre: LexborNode) -> str:
    """The lines of some code, without blank lines around them. An element that holds one line ends a line."""
    out: list[str] = []
    waiting: list[LexborNode | None] = [*reversed(_children(pre))]  # None: here ends a line
    while waiting:
        node = waiting.pop()
        if node is None:
            _end_line(out)
        elif node.tag == "-text":
            out.append(node.text_content or "")
        elif node.tag == "br":
            out.append("\n")
        else:
            if node.tag in _ROWS:
                _end_line(out)
            if node.tag in _ROWS or _is_line(node):
                waiting.append(None)
            waiting += reversed(_children(node))
    lines = [line.rstrip() for line in "".join(out).replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return "\n".join(lines).strip("\n")


def _children(node: LexborNode) -> list[LexborNode]:
    return list(node.iter(include_text=True))


def _is_line(node: LexborNode) -> bool:
    """Whether an element holds a line and the next line follows without a line break."""
    following = node.next
    if following is None or following.tag != node.tag or node.tag not in ("span", "code"):
        return False
    return node.tag == "code" or bool(_LINE.search(node.attributes.get("class") or ""))


def _end_line(out: list[str]) -> None:
    last = next((text for text in reversed(out) if text), "\n")
    if not last.endswith("\n"):
        out.append("\n")
