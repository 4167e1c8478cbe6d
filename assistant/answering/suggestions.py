"""Where to read on: the `suggestions` block that clients of such services show as buttons below an answer."""

from collections.abc import Sequence

from assistant.events import Source, Text
from search.hits import Hit, NextSection

MOST = 3
_NO_PLACE = {
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


def block(passages: Sequence[Hit], sources: Sequence[Source]) -> list[Text]:
    """Up to three sections beside those of the cited pages, then others that were found.

    A fenced block of lines `(Label)[/path#anchor]`, paths as the site has them;
    nothing where there is no such section.
    """
    urls = {source.url for source in sources}
    cited = {hit.path for hit in passages if hit.url.partition("#")[0] in urls}
    read = {hit.link for hit in passages if hit.path in cited}
    places: dict[str, str] = {}
    for hit in sorted(passages, key=lambda hit: hit.path not in cited):
        itself = [NextSection(hit.title if hit.section == hit.title else f"{hit.title}: {hit.section}", hit.link)]
        for place in hit.following if hit.path in cited else itself:
            if place.link not in read:
                places.setdefault(place.link, " ".join(place.label.translate(_BRACKETS).split()))
    lines = [f"({label})[{link}]" for link, label in places.items() if label.lower() not in {*_NO_PLACE, ""}]
    return [Text("\n\n```suggestions\n" + "\n".join(lines[:MOST]) + "\n```")] if lines else []
