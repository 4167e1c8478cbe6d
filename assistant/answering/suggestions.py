"""Builds the `suggestions` block below an answer: sections to read next, which clients show as buttons.

```suggestions
(Install with pip)[/install#with-pip]
(Upgrade)[/upgrade]
```
"""

from collections.abc import Sequence

from assistant.wire.events import Source, Text
from search.hits import Hit, NextSection

MAX_SUGGESTIONS = 3
# Headings of lists of links. They do not describe a section.
_MEANINGLESS_LABELS = {
    "",
    "next",
    "see also",
    "related",
    "related pages",
    "next steps",
    "what's next",
    "further reading",
    "learn more",
}
_BRACKETS = str.maketrans("()[]", "    ")


def build_block(passages: Sequence[Hit], sources: Sequence[Source]) -> list[Text]:
    """Build the block: first the sections that follow on the cited pages, then other passages of the search.

    Paths are as the site has them. The list is empty when there is no such section.
    """
    cited_urls = {source.url for source in sources}
    cited_paths = {hit.path for hit in passages if hit.url.partition("#")[0] in cited_urls}
    cited_links = {hit.link for hit in passages if hit.path in cited_paths}
    labels: dict[str, str] = {}
    for hit in sorted(passages, key=lambda hit: hit.path not in cited_paths):
        hit_label = hit.title if hit.section == hit.title else f"{hit.title}: {hit.section}"
        places = hit.following if hit.path in cited_paths else [NextSection(hit_label, hit.link)]
        for place in places:
            if place.link not in cited_links:
                labels.setdefault(place.link, " ".join(place.label.translate(_BRACKETS).split()))
    lines = [f"({label})[{link}]" for link, label in labels.items() if label.lower() not in _MEANINGLESS_LABELS]
    return [Text("\n\n```suggestions\n" + "\n".join(lines[:MAX_SUGGESTIONS]) + "\n```")] if lines else []
