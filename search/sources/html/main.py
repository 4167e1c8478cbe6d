"""Find the content of a web page, and remove navigation and other boilerplate."""

import re
import tomllib
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

_SELECTORS = tomllib.loads(Path(__file__).with_name("selectors.toml").read_text(encoding="utf-8"))
_PERMALINK = re.compile(r"[#¶§🔗\s\u200b]*")
_MAX_DEPTH = 50  # levels that are searched for the content
_MAIN_SHARE = 0.6  # an element with more than this share of the text has the content


def remove_boilerplate(tree: LexborHTMLParser) -> None:
    """Remove all elements that are not content from the page."""
    for node in _select_inner_first(tree, ", ".join(_SELECTORS["not_text"] + _SELECTORS["site_elements"])):
        if node.tag not in ("html", "head", "body", "main"):
            node.decompose()
    for node in _select_inner_first(tree, "header, footer, aside, form, button"):
        if _is_boilerplate(node):
            node.decompose()
    for link in tree.css(", ".join(f"{around} a[href*='#']" for around in ("h1", "h2", "h3", "h4", "h5", "h6", "dt"))):
        if _PERMALINK.fullmatch(link.text()):  # the link may have the anchor, so only its text is removed
            for sign in list(link.iter(include_text=True)):
                sign.decompose()


def _select_inner_first(tree: LexborHTMLParser, selectors: str) -> list[LexborNode]:
    """The matching elements without repeats, inner ones first, because removing an element removes its children."""
    return list({node.mem_id: node for node in tree.css(selectors)}.values())[::-1]


def find_content(tree: LexborHTMLParser) -> LexborNode | None:
    """The element with the content; None for a page without text. Call `remove_boilerplate` first."""
    body = tree.body
    if body is None or not body.text().strip():
        return None
    container = _find_container(body)
    for selector in _SELECTORS["inner"]:
        inner = [node for node in container.css(selector) if node.mem_id != container.mem_id]
        if len(inner) == 1 and _has_most_of(container, inner[0]):
            return inner[0]
    return container


def _find_container(body: LexborNode) -> LexborNode:
    """The element that is marked as the content, or else the smallest one with most of the text."""
    for selector in _SELECTORS["content"]:
        found = body.css(selector)
        if found and (len(found) == 1 or selector in ("main", "[role=main]")):
            return max(found, key=_length)
    node = body
    for _ in range(_MAX_DEPTH):
        densest = max(node.iter(), key=_length, default=None)
        if densest is None or densest.tag in ("p", "pre", "table", "ul", "ol", "dl") or not _has_most_of(node, densest):
            break
        node = densest
    return node


def _has_most_of(outer: LexborNode, inner: LexborNode) -> bool:
    """Whether `inner` has most of the text and all `h1` headings of `outer`."""
    if len(inner.css("h1")) < len(outer.css("h1")):
        return False
    return _length(inner) > _MAIN_SHARE * _length(outer)


def _is_boilerplate(node: LexborNode) -> bool:
    """Whether a header, footer, form, button or aside is not part of the content."""
    if node.tag == "header":
        return node.css_first("h1") is None
    if node.tag == "footer":
        return node.parent is None or node.parent.tag != "blockquote"
    if node.tag == "form":
        return node.css_first("h1, h2, pre") is None
    if node.tag == "button":
        return not node.text().strip()
    return sum(_length(link) for link in node.css("a")) > _MAIN_SHARE * _length(node)  # an aside with links only


def _length(node: LexborNode) -> int:
    return len(node.text().strip())
