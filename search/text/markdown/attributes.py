"""Attribute lists of headings, as in Python-Markdown, markdown-it-attrs, Goldmark, kramdown and mdBook."""

import re

_LIST_END = re.compile(r"\}[ \t]*$")
_ITEM = re.compile(
    r"[ \t]*+(?:#(?P<id>[^\s{}#\"'=]+)|\.[^\s{}#\"'=]+|(?P<key>[\w:.-]+)=(?P<value>\"[^\"]*+\"|'[^']*+'|[^\s{}\"']*+)"
    r"|(?P<word>[\w:-]+))(?=[\s#.]|$)"
)


def split_attributes(text: str) -> tuple[str, str | None]:
    """The text before an attribute list at its end, and the list's id: empty if it has none, None without a list.

    >>> split_attributes('Options { id="opts" .new }')
    ('Options', 'opts')
    >>> split_attributes("GET /users/{id}")
    ('GET /users/{id}', None)
    """
    end = _LIST_END.search(text) if "}" in text[-20:] else None
    start = text.rfind("{") if end else -1
    if not end or start < 0:
        return text, None
    inner = text[start + 1 : end.start()].strip().removeprefix(":").strip()
    anchor, at, is_list = "", 0, False
    while at < len(inner):
        item = _ITEM.match(inner, at)
        if not item:
            return text, None
        word = item["word"]
        is_list = is_list or not word or word.startswith("data-")
        anchor = item["id"] or (item["value"].strip("\"'") if item["key"] == "id" else anchor)
        at = item.end()
    return (text[:start].rstrip(), anchor) if is_list else (text, None)
