"""The anchors of headings, as GitHub makes them."""

import re

_EXPLICIT_ID = re.compile(r"\s*(?:\{:?[^{}#]*#([^\s{}#]+)[^{}]*\}|\[#([\w:.-]+)\])\s*$")


def slug(heading: str) -> str:
    """The anchor of a heading: lower case, no punctuation, hyphens for spaces."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower()))


def anchor_and_heading(raw: str, counts: dict[str, int]) -> tuple[str, str]:
    """Anchor and visible text of a heading; an explicit `{#id}` wins, a repeated slug gets a number.

    `counts` has how often each slug occurred above on the page.
    """
    explicit = _EXPLICIT_ID.search(raw)
    heading = _EXPLICIT_ID.sub("", raw).strip()
    if explicit:
        return explicit[1] or explicit[2], heading
    anchor = slug(heading)
    count = counts.get(anchor, 0)
    counts[anchor] = count + 1
    return (f"{anchor}-{count}" if count else anchor), heading
