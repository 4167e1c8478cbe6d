"""Convert code blocks of a web page: their lines and their language, for any highlighter."""

import re

from selectolax.lexbor import LexborNode

from search.text.markdown.reader import fence

_LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?|source)[-\s]([\w+#.-]+)", re.IGNORECASE
)
_LANGUAGE_AFTER_CLASS = re.compile(r"(?:^|\s)(?:sourceCode|hljs|prettyprint)\s+([\w+#-]+)$")  # pandoc's, highlight.js's
_HIGHLIGHTERS = frozenset(("highlight", "highlighter-rouge"))
_NO_LANGUAGE = _HIGHLIGHTERS | {"default", "none", "text", "plaintext", "plain", "txt", "undefined"}
_ROWS = frozenset(("div", "p", "li", "tr", "section"))
_LINE = re.compile(r"(?:^|\s)(?:line|token-line|code-line|ec-line|view-line|cl)(?:\s|$)")
_MAX_LOOKED_UP = 5  # elements in and around the code that may name its language
_NUMBERED = frozenset(("table", "tbody", "tr", "td"))  # a table with line numbers in one cell and code in the other
_BOXES = _NUMBERED | {"pre", "code", "div", "figure", "span"}


def code_block(pre: LexborNode) -> str:
    """The code block as Markdown; empty if it has no code."""
    code = extract_text(pre)
    if not code.strip():
        return ""
    return fence(code, find_language(pre))


def find_language(pre: LexborNode) -> str:
    """The language in classes and attributes of the block and of elements in and around it; may be empty."""
    inner = pre.css_first("code")
    elements = [inner] if inner else []
    node: LexborNode | None = pre
    while node is not None and node.tag in _BOXES and len(elements) < _MAX_LOOKED_UP:
        if node.tag not in _NUMBERED:
            elements.append(node)
        node = node.parent
    for element in elements:
        attributes = element.attributes
        classes = attributes.get("class") or ""
        class_names = [name for name in _LANGUAGE_CLASS.findall(classes) if name.lower() not in _HIGHLIGHTERS]
        class_names += _LANGUAGE_AFTER_CLASS.findall(classes)
        for name in (attributes.get("data-lang"), attributes.get("data-language"), *class_names):
            if name:
                return "" if name.lower() in _NO_LANGUAGE else re.sub(r"[^\w+#.-]", "", name.lower())[:30]
    return ""


def extract_text(pre: LexborNode) -> str:
    """The lines of code, without blank lines around them. An element for one line also ends a line."""
    out: list[str] = []
    stack: list[LexborNode | None] = [*reversed(_children(pre))]  # None ends a line
    while stack:
        node = stack.pop()
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
                stack.append(None)
            stack += reversed(_children(node))
    lines = [line.rstrip() for line in "".join(out).replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return "\n".join(lines).strip("\n")


def _children(node: LexborNode) -> list[LexborNode]:
    return list(node.iter(include_text=True))


def _is_line(node: LexborNode) -> bool:
    """Whether an element contains one line, and the next element the next line, without a line break between."""
    following = node.next
    if following is None or following.tag != node.tag or node.tag not in ("span", "code"):
        return False
    return node.tag == "code" or bool(_LINE.search(node.attributes.get("class") or ""))


def _end_line(out: list[str]) -> None:
    last = next((text for text in reversed(out) if text), "\n")
    if not last.endswith("\n"):
        out.append("\n")
