"""The lines in the head of a page: the tag of the service, and elements that say what is in the front matter."""

import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

# What opens the search of each theme, and now opens this one. Themes show it if MkDocs' own plug-in `search` is used.
TRIGGERS = {
    "material": ".md-search__input, [for=__search]",
    "mkdocs": '[data-bs-target="#mkdocs_search_modal"]',
    "readthedocs": "#rtd-search-form input",
}


def build_tag(service: str, attributes: Mapping[str, Any]) -> str:
    """The tag that loads the search, with data attributes such as `domain`. `True` is an attribute without a value.

    Mappings, lists and False become JSON, as `labels` does. None, an empty text and `assistant: False` leave it out.
    """
    given = {**attributes, "assistant": attributes.get("assistant") or None}  # its mere presence loads the assistant
    texts = {
        name: json.dumps(value) if isinstance(value, dict | list) or value is False else str(value)
        for name, value in given.items()
        if value is not None and value != ""
    }
    data = "".join(
        f" data-{name}" + ("" if given[name] is True else f'="{escape(text)}"') for name, text in texts.items()
    )
    return f'<script async src="{escape(service.rstrip("/"))}/search.js"{data}></script>'


def describe_page(meta: Mapping[str, Any], version: str, head: str) -> Iterator[str]:
    """Yield elements for the front matter of a page, as far as its theme has not written them into `head`.

    The service reads them from the built site: the version of all its pages, a description, and keywords with tags.
    """
    said = {
        "docsearch:version": version,
        "description": meta.get("description") or "",
        "keywords": ", ".join(dict.fromkeys([*_list_words(meta.get("keywords")), *_list_words(meta.get("tags"))])),
    }
    for name, content in said.items():
        if content and not re.search(rf'<meta\s[^>]*\bname=["\']?{name}\b', head):
            yield f'<meta name="{name}" content="{escape(str(content))}">'


def _list_words(value: Any) -> list[str]:
    """The words of a field: of a text with commas, of a list, or of anything else that its author wrote."""
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return [str(word) for word in (value if isinstance(value, list) else [value]) if word is not None]
