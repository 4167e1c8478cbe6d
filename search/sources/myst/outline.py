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
    """Assign the ids of one page from top to bottom. Ids leave typographic quotes (`smart_quotes`) out."""

    def __init__(self, smart_quotes: bool = False) -> None:
        self.smart_quotes = smart_quotes
        self.used: set[str] = set()
        self.number = 0
        self.labels: list[str] = []  # ids of the labels above the next heading

    def label(self, name: str) -> str:
        """The id of a label. The heading below it has this id, too."""
        self.labels.append(self._assign(nodes.make_id(name))[0])
        return self.labels[-1]

    def heading(self, text: str) -> str:
        """The id by which Sphinx links a heading: its own, or a label's if its own is only a number."""
        labels, self.labels = self.labels, []
        own, is_number = self._assign(nodes.make_id(text.translate(_QUOTES) if self.smart_quotes else text))
        return labels[-1] if is_number and labels else own

    def _assign(self, new_id: str) -> tuple[str, bool]:
        """An id that is not used yet, and whether it is only a number."""
        is_number = not new_id or new_id in self.used
        while not new_id or new_id in self.used:
            self.number += 1
            new_id = f"id{self.number}"
        self.used.add(new_id)
        return new_id, is_number


class Outline:
    """The headings and the labels of a page by normalized name. Those of included files are not among them."""

    def __init__(self, source: str, page: str, smart_quotes: bool) -> None:
        self.headings: list[tuple[int, Target]] = []
        self.labels: dict[str, Target] = {}
        ids = Ids(smart_quotes)
        pending: dict[str, str] = {}  # ids of the labels above the next heading
        fence = before = ""
        for line in [*_COMMENTS.sub("", source).split("\n"), ""]:
            heading = find_heading(line, before)
            marks = _FENCE.match(line)
            label = LABEL.match(line)
            text = "" if fence or marks or label or heading else line
            if fence:
                fence = "" if marks and marks[1].startswith(fence) and line.strip() == marks[1] else fence
            elif marks:
                fence = marks[1]
            elif label:
                pending[nodes.fully_normalize_name(label[1])] = ids.label(label[1])
            elif heading:
                title = strip_markup(heading[1])
                target = Target(page, ids.heading(title), title)
                self.headings.append((heading[0], target))
                self.labels |= dict.fromkeys(pending, target)
                pending = {}
            elif pending and before.strip():
                self.labels |= {name: Target(page, anchor, "") for name, anchor in pending.items()}
                pending, ids.labels = {}, []
            before = text
        self.labels |= {name: Target(page, anchor, "") for name, anchor in pending.items()}

    @property
    def title(self) -> str:
        return self.headings[0][1].title if self.headings else ""

    def slugs(self, depth: int) -> dict[str, Target]:
        """The headings down to a level, by the slugs of GitHub. Links name them so with `myst_heading_anchors`."""
        slugs: dict[str, Target] = {}
        counts: Counter[str] = Counter()
        for level, heading in self.headings:
            if level <= depth:
                name = slug(heading.title)
                slugs[f"{name}-{counts[name]}" if counts[name] else name] = heading
                counts[name] += 1
        return slugs


def find_heading(line: str, before: str = "") -> tuple[int, str] | None:
    """The level and the text of a heading: of a line with `#`, or of the text before an underline."""
    if before.strip() and UNDERLINE.match(line):
        return 1 if line[0] == "=" else 2, before
    heading = _HEADING.match(line)
    return (len(heading[1]), heading[2].rstrip().rstrip("#").rstrip()) if heading else None


def strip_markup(text: str) -> str:
    """The text of a heading without its markup."""
    return plain(_ROLE.sub(lambda role: f"`{role[1].strip().lstrip('!~')}`", text[:MAX_TITLE]))
