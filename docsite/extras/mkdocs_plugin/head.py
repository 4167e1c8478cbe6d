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

    Mappings and lists become JSON, as `labels` does. False, None and an empty text leave an attribute out.
    """
    given = {name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in attributes.items()}
    data = "".join(
        f" data-{name}" + ("" if value is True else f'="{escape(str(value))}"')
        for name, value in given.items()
        if value not in (False, None, "")
    )
    return f'<script async src="{escape(service.rstrip("/"))}/search.js"{data}></script>'


def describe_page(meta: Mapping[str, Any], version: str, head: str) -> Iterator[str]:
    """Yield elements for the front matter of a page, as far as its theme has not written them into `head`.

    The service reads them from the built site: the version of all its pages, a description, and keywords with tags.
    """
    words = meta.get("keywords") or []
    words = re.split(r"\s*,\s*", words) if isinstance(words, str) else words
    said = {
        "docsearch:version": version,
        "description": meta.get("description") or "",
        "keywords": ", ".join(dict.fromkeys(map(str, [*words, *(meta.get("tags") or [])]))),
    }
    for name, content in said.items():
        if content and not re.search(rf'<meta\s[^>]*\bname="?{name}\b', head):
            yield f'<meta name="{name}" content="{escape(str(content))}">'
