"""Headings and labels of a page in MyST, with the ids that Sphinx gives them."""

import re
from collections import Counter

from docutils import nodes

from search.sources.rst.site import MAX_TITLE, Target
from search.text.markdown.plain_text import plain, slug

LABEL = re.compile(r"\(([^()\n]{1,200})\)=\s*$")
UNDERLINE = re.compile(r"(=+|-+)\s*$")
_HEADING = re.compile(r"(#{1,6})\s+(.*)$")
_COMMENTS = re.compile(r"^ *<!--.*?(?:-->|\Z)", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ROLE = re.compile(r"\{[\w:.+-]+\}`([^`<]{1,500})(?:<[^`<>]{1,500}>)?`")
_QUOTES = str.maketrans("", "", "'\"")


class Ids:
    """The ids of one page, given out from top to bottom. With `smart` quotes are typographic, which ids leave out."""

    def __init__(self, smart: bool = False) -> None:
        self.smart = smart
        self.taken: set[str] = set()
        self.count = 0
        self.labels: list[str] = []  # ids of the labels before a heading

    def label(self, name: str) -> str:
        """The id of a label. The heading behind it has this id, too."""
        self.labels.append(self._new(nodes.make_id(name))[0])
        return self.labels[-1]

    def heading(self, text: str) -> str:
        """The id by which a heading is linked: its own, or a label's where its own is only a number."""
        labels, self.labels = self.labels, []
        own, is_number = self._new(nodes.make_id(text.translate(_QUOTES) if self.smart else text))
        return labels[-1] if is_number and labels else own

    def _new(self, wanted: str) -> tuple[str, bool]:
        is_number = not wanted or wanted in self.taken
        while not wanted or wanted in self.taken:
            self.count += 1
            wanted = f"id{self.count}"
        self.taken.add(wanted)
        return wanted, is_number


class Outline:
    """The headings and the labels of a page by normalized name. Those of included files are not among them."""

    def __init__(self, source: str, page: str, smart: bool) -> None:
        self.headings: list[tuple[int, Target]] = []
        self.labels: dict[str, Target] = {}
        ids = Ids(smart)
        waiting: dict[str, str] = {}  # ids of the labels whose heading has not come yet
        fence = before = ""
        for line in [*_COMMENTS.sub("", source).split("\n"), ""]:
            heading = heading_in(line, before)
            marks = _FENCE.match(line)
            label = LABEL.match(line)
            text = "" if fence or marks or label or heading else line
            if fence:
                fence = "" if marks and marks[1].startswith(fence) and line.strip() == marks[1] else fence
            elif marks:
                fence = marks[1]
            elif label:
                waiting[" ".join(label[1].lower().split())] = ids.label(label[1])
            elif heading:
                shown = visible(heading[1])
                there = Target(page, ids.heading(shown), shown)
                self.headings.append((heading[0], there))
                self.labels |= dict.fromkeys(waiting, there)
                waiting = {}
            elif waiting and before.strip():
                self.labels |= {name: Target(page, anchor, "") for name, anchor in waiting.items()}
                waiting, ids.labels = {}, []
            before = text
        self.labels |= {name: Target(page, anchor, "") for name, anchor in waiting.items()}

    @property
    def title(self) -> str:
        return self.headings[0][1].title if self.headings else ""

    def slugs(self, depth: int) -> dict[str, Target]:
        """The headings down to a level by GitHub's slugs, by which links name them with `myst_heading_anchors`."""
        found: dict[str, Target] = {}
        counts: Counter[str] = Counter()
        for level, heading in self.headings:
            if level <= depth:
                name = slug(heading.title)
                found[f"{name}-{counts[name]}" if counts[name] else name] = heading
                counts[name] += 1
        return found


def heading_in(line: str, before: str = "") -> tuple[int, str] | None:
    """The level and the text of a heading: of a line with `#`, or of the text before an underline."""
    if before.strip() and UNDERLINE.match(line):
        return 1 if line[0] == "=" else 2, before
    found = _HEADING.match(line)
    return (len(found[1]), found[2].rstrip().rstrip("#").rstrip()) if found else None


def visible(text: str) -> str:
    """The text of a heading without its markup."""
    return plain(_ROLE.sub(lambda role: f"`{role[1].strip().lstrip('!~')}`", text[:MAX_TITLE]))
