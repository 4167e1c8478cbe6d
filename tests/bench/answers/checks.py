"""What an answer must hold: the words that were asked for, and links that lead where they say."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from urllib.parse import unquote

LEAD = 8  # words of what follows a heading; an answer with them quotes it

_COMMENT = re.compile(r"\{/\*.*?\*/\}|<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_WORD = re.compile(r"[^\W_]+")
_HEADING = re.compile(r"\s*#{1,6}\s+(?P<name>.+?)\s*(?:\{[^{}]*\}\s*)?$")
_BOLD = re.compile(r"\s*(?:[-*+]\s+)?\*\*(?P<name>.+?)\*\*")
_TITLE = re.compile(r"""\b(?:title|label|summary)\s*=\s*(?P<quote>["'])(?P<name>.+?)(?P=quote)[^<>]*(?:>|$)""")
_CODE = re.compile(r"(?ms)^ *(?P<fence>`{3,}|~{3,}).*?^ *(?P=fence)|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)")
_CITATION = re.compile(r"\[\d+\]\(([^()\s]+)\)")


def words(markdown: str) -> list[str]:
    """The words of some Markdown as readers see them, in lower case."""
    text = _LINK.sub(r"\1", _TAG.sub(" ", _COMMENT.sub(" ", markdown)))
    return _WORD.findall(html.unescape(text).casefold())


def quotes(answer: str, question: str, page: str) -> bool | None:
    """Whether an answer has what follows the heading or title on a page that is the question; None without one."""
    answer = f" {' '.join(words(answer))} "
    found = list(_leads(question, page))
    return any(f" {' '.join(lead)} " in answer for lead in found) if found else None


def _leads(question: str, page: str) -> Iterator[list[str]]:
    """The first words of what stands below the question, wherever it is a heading, a title or a bold line."""
    wanted = words(question)
    lines = page.split("\n")
    fence = ""
    for number, line in enumerate(lines):
        mark = line.strip()[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        if fence:
            continue
        for name in filter(None, (form.search(line) for form in (_HEADING, _BOLD, _TITLE))):
            if words(name["name"]) == wanted:
                below = _COMMENT.sub("", "\n".join([line[name.end() :], *lines[number + 1 :]]))
                paragraphs = filter(None, map(words, re.split(r"\n\s*\n", below)))
                yield next(paragraphs, [])[:LEAD]


@dataclass(frozen=True)
class Page:
    """What readers see of a page: its title, then heading, anchor and text of each section."""

    title: str
    sections: Sequence[tuple[str, str, str]]

    def __post_init__(self) -> None:
        pieces, last = [("", self.title)], ("", "")
        for heading, anchor, text in self.sections:
            pieces += [(anchor, heading)] if heading and (heading, anchor) != last else []
            pieces.append((anchor, text))
            last = heading, anchor
        flat = [(anchor, " ".join(text.split()).casefold() + " ") for anchor, text in pieces]
        object.__setattr__(self, "text", "".join(text for _, text in flat))
        ends = accumulate(len(text) for _, text in flat)
        object.__setattr__(self, "places", [(end, anchor) for end, (anchor, _) in zip(ends, flat, strict=True)])

    def fault(self, anchor: str, directive: str) -> str:
        """What is wrong with a place on the page; empty when a browser goes there."""
        text: str = self.text  # type: ignore[attr-defined]
        if anchor and anchor not in {known for _, known, _ in self.sections}:
            return "no such anchor"
        if not directive:
            return ""
        found = _pattern(directive).search(text)
        if not found:
            return "words not on the page"
        at = found.start("start")
        under = next(under for end, under in self.places if at < end)  # type: ignore[attr-defined]
        return "" if under == anchor else "words first elsewhere"


def _pattern(directive: str) -> re.Pattern[str]:
    """The words of a text fragment (`text=[prefix-,]start[,end][,-suffix]`) as a browser looks for them."""
    parts = directive.removeprefix("text=").split(",")
    prefix = parts.pop(0)[:-1] if parts[0].endswith("-") else ""
    suffix = parts.pop()[1:] if parts[-1].startswith("-") else ""
    start, *end = parts
    pattern = rf"(?P<start>{_whole(start)})" + "".join(rf".*?{_whole(part)}" for part in end)
    return re.compile((_whole(prefix) + " " if prefix else "") + pattern + (" " + _whole(suffix) if suffix else ""))


def _whole(encoded: str) -> str:
    """A pattern for some words that are not the middle of others."""
    text = " ".join(unquote(encoded).split()).casefold()
    before = r"(?<!\w)" if re.match(r"\w", text) else ""
    return before + re.escape(text) + (r"(?!\w)" if re.search(r"\w\Z", text) else "")


def faults(answer: str, site: str, pages: Mapping[str, Page]) -> Iterator[tuple[str, str]]:
    """Each citation of an answer, and what is wrong with it, if anything is."""
    for written in _CITATION.findall(_CODE.sub("", answer)):  # a page may show what a citation looks like
        url = html.unescape(written)
        place, _, fragment = url.partition("#")
        anchor, _, directive = fragment.partition(":~:")
        page = pages.get(unquote(place.removeprefix(site)) or "/") if place.startswith(site) else None
        yield url, page.fault(unquote(anchor), directive) if page else "no such page"
