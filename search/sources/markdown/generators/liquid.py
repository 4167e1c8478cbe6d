"""Liquid in Jekyll's pages: tags and values go, what they enclose stays, and those of links become paths."""

import re
from collections.abc import Iterator

from search.sources.markdown.slugs import drop_unknown_anchors

_VERBATIM = re.compile(r"\{%-?[ \t]{0,9}(raw|endraw|comment|endcomment)[ \t]{0,9}-?%\}")
_TAG = re.compile(r"\{%-?\s{0,9}(\w{1,50}+)([^%{}]{0,1000}+)%\}|\{\{((?:(?!\{\{|\}\}).){0,1000})\}\}", re.DOTALL)
_ANY_TAG = re.compile(r"\{%[^%]{0,1000}%\}")  # may hold a value in braces
_ADDRESS = re.compile(r"\s*[\"']([^\"'\n]*)[\"']\s*\|\s*(?:relative_url|absolute_url|prepend:.*)\s*")
# kramdown: attributes of a heading may stand on the line below.
_BELOW = re.compile(r"(?m)^(#{1,6}[ \t].*)\n(\{:[^{}#\n]*+#[^{}\n]*+\})[ \t]*$")


def rewrite(body: str) -> str:
    """The page without Liquid, and with the ids of headings on their lines.

    A heading with a value of Liquid's has no anchor, because its text is not known.
    """
    if "{%" in body or "{{" in body:
        body = "".join(_rewrite_pieces(body))
    return _BELOW.sub(r"\1 \2", body) if "{:" in body else body


def _rewrite_pieces(body: str) -> Iterator[str]:
    """Yield what stands outside of `raw` and `comment` without Liquid, and what stands in `raw` as it is."""
    around, at = "", 0
    for mark in _VERBATIM.finditer(body):
        if not around and not mark[1].startswith("end"):
            yield _rewrite_piece(body[at : mark.start()])
            around, at = mark[1], mark.end()
        elif mark[1] == f"end{around}":
            yield body[at : mark.start()] if around == "raw" else ""
            around, at = "", mark.end()
    yield _rewrite_piece(body[at:])


def _rewrite_piece(text: str) -> str:
    return _ANY_TAG.sub("", _TAG.sub(_write, drop_unknown_anchors(text, "{{", "{%")))


def _write(found: re.Match[str]) -> str:
    name, rest, value = found.groups()
    if value is not None:
        address = _ADDRESS.fullmatch(value.strip("-"))
        return address[1] if address else ""
    words = rest.removesuffix("-").split()
    if name == "highlight":
        return f"```{words[0] if words else ''}"
    if name == "link" and words:
        return f"/{words[0]}"
    if name == "post_url" and words:
        return f"/_posts/{words[0]}.md"
    return "```" if name == "endhighlight" else ""
