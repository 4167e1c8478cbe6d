"""Headings and labels of a page in MyST, with the ids that Sphinx gives them."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from docutils import nodes

from search.sources.rst.site import MOST_TITLE
from search.text.markdown.visible import plain, slug

LABEL = re.compile(r"\(([^()\n]{1,200})\)=\s*$")
UNDERLINE = re.compile(r"(=+|-+)\s*$")
_HEADING = re.compile(r"(#{1,6})\s+(.*)$")
_COMMENTS = re.compile(r"^ *<!--.*?(?:-->|\Z)", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ROLE = re.compile(r"\{[\w:.+-]+\}`([^`<]{1,500})(?:<[^`<>]{1,500}>)?`")
_QUOTES = str.maketrans("", "", "'\"")


class Heading(NamedTuple):
    """A heading: its level, its text without markup, its id, and the names of the labels before it.

    A label with no heading behind it has the level 0 and no text.
    """

    level: int
    text: str
    anchor: str
    labels: tuple[str, ...] = ()


class Ids:
    """The ids of one page, given out from top to bottom. With `smart` quotes are typographic, which ids leave out."""

    def __init__(self, smart: bool = False) -> None:
        self.smart = smart
        self.taken: set[str] = set()
        self.counted = 0
        self.waiting: list[str] = []  # of the labels before a heading

    def label(self, name: str) -> str:
        """The id of a label, which the heading behind it has too."""
        self.waiting.append(self._new(nodes.make_id(name))[0])
        return self.waiting[-1]

    def heading(self, text: str) -> str:
        """The id by which a heading is linked: a label's where its own was only counted."""
        labels, self.waiting = self.waiting, []
        own, counted = self._new(nodes.make_id(text.translate(_QUOTES) if self.smart else text))
        return labels[-1] if counted and labels else own

    def _new(self, wanted: str) -> tuple[str, bool]:
        counted = not wanted or wanted in self.taken
        while not wanted or wanted in self.taken:
            self.counted += 1
            wanted = f"id{self.counted}"
        self.taken.add(wanted)
        return wanted, counted


def outline(source: str, smart: bool) -> Iterator[Heading]:
    """Headings and labels of a page, in order; those that it includes are not among them."""
    ids = Ids(smart)
    labels: list[str] = []
    anchor = fence = before = ""
    for line in _COMMENTS.sub("", source).split("\n"):
        marks = _FENCE.match(line)
        if fence:
            fence = "" if marks and marks[1].startswith(fence) and line.strip() == marks[1] else fence
        elif marks:
            fence = marks[1]
        elif label := LABEL.match(line):
            anchor = ids.label(label[1])
            labels.append(label[1])
        elif found := heading_in(line):
            text = visible(found[1])
            yield Heading(found[0], text, ids.heading(text), tuple(labels))
            labels = []
        elif before.strip() and UNDERLINE.match(line):
            text = visible(before)
            yield Heading(1 if line[0] == "=" else 2, text, ids.heading(text), tuple(labels))
            labels = []
        elif labels and before.strip():
            yield Heading(0, "", anchor, tuple(labels))
            labels, ids.waiting = [], []
        before = "" if fence or _is_marked(line) else line
    if labels:
        yield Heading(0, "", anchor, tuple(labels))


def heading_in(line: str) -> tuple[int, str] | None:
    """The level and the text of a heading that begins with `#`."""
    found = _HEADING.match(line)
    return (len(found[1]), found[2].rstrip().rstrip("#").rstrip()) if found else None


def _is_marked(line: str) -> bool:
    """Whether a line is no text that could be underlined."""
    return bool(LABEL.match(line) or heading_in(line))


def slugs(headings: list[Heading], depth: int) -> dict[str, Heading]:
    """The headings down to a level by the slug of GitHub, as links name them with `myst_heading_anchors`."""
    found: dict[str, Heading] = {}
    counts: Counter[str] = Counter()
    for heading in headings:
        if 0 < heading.level <= depth:
            name = slug(heading.text)
            found[f"{name}-{counts[name]}" if counts[name] else name] = heading
            counts[name] += 1
    return found


def visible(text: str) -> str:
    """The text of a heading without its markup."""
    return plain(_ROLE.sub(lambda role: f"`{role[1].strip().lstrip('!~')}`", text[:MOST_TITLE]))
