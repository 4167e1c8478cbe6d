"""What a page of a Sphinx site must know of the others: titles, labels and settings, read without docutils."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast

from docutils import nodes

from docsite.core.paths import normalize

MOST_BYTES = 2 * 1024 * 1024  # of a page or of what it includes
MOST_PARSED = 500_000  # characters that docutils is given of a page: some seconds of work, and never more than `Work`
MOST_WRITTEN = 2 * 1024 * 1024  # characters of a page in Markdown
MOST_TITLE = 500  # characters; each reference to a page repeats its title
_LONGEST_NAME = 1000  # characters of a reference, with its title

_LABEL = re.compile(r"^ *\.\. _(?!_)(?:`([^`\n]+)`|((?:[^:\n\\]|\\.)+)): *$", re.MULTILINE)
_BLANK = re.compile(r"\s*")
_TITLE = re.compile(
    r"^(?:([!-/:-@\[-`{-~])\1+[ ]*\n)?(?! *\.\. )[ ]*(\S[^\n]*)\n([!-/:-@\[-`{-~])\3{2,}[ ]*$", re.MULTILINE
)
_CAPTION = re.compile(r"\s*\.\. (?:figure|table|csv-table|list-table|toctree)::(.*)\n(?P<options>(?: +:[^\n]*\n)*)")
_CAPTION_OPTION = re.compile(r"^ +:caption: *(.+)$", re.MULTILINE)
_FIGURE_TEXT = re.compile(r"\s*\n +(\S.*)")
_MARKUP = re.compile(r":[\w+.:-]+:`(?:~[\w.]*\.|!)?([^`<]*?)(?:\s*<[^`>]*>)?`|(?<!\\)(?:``?|\*\*?|\|)|\\")


class Target(NamedTuple):
    """Where a label leads: a page by its name in Sphinx, an anchor on it, and the title that stands there."""

    page: str
    anchor: str
    title: str


@dataclass(frozen=True)
class Site:
    """A whole set of pages. Pages are named as Sphinx does: by path from `root` on, without the file's ending.

    What pages include lies below `bounds`, the root or a folder above it; without a root they include nothing.
    `extlinks` has the address and the caption of each role; `targets` and `objects` are the directives that the
    project defines for places and for things. `substitutions` are those that conf.py gives. `headings` are those
    of pages in MyST that links may name, by page and slug; `smart` says that their quotes are typographic.
    """

    root: Path | None = None
    bounds: Path | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Target] = field(default_factory=dict)
    extlinks: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    substitutions: Mapping[str, str] = field(default_factory=dict)
    headings: Mapping[str, Mapping[str, Target]] = field(default_factory=dict)
    targets: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    highlight: str = ""
    default_role: str = ""
    prolog: str = ""
    epilog: str = ""
    smart: bool = False

    def page(self, reference: str, around: str) -> str:
        """The page that a reference on another page means; one with a slash in front begins at the root."""
        name = re.sub(r"\.(?:rst|txt|md)$", "", reference.strip())
        name = name[1:] if name.startswith("/") else posixpath.join(posixpath.dirname(around), name)
        return posixpath.normpath(name)

    def included(self, reference: str, around: str) -> Path | None:
        """The file that a page includes; None when it is no text file inside the root."""
        if not self.root or "\x00" in reference or len(reference) > 1000:
            return None
        name = reference[1:] if reference.startswith("/") else posixpath.join(posixpath.dirname(around), reference)
        try:
            file = (self.root / name).resolve()
            fits = (
                file.is_relative_to((self.bounds or self.root).resolve())
                and file.is_file()
                and file.stat().st_size <= MOST_BYTES
            )
        except (OSError, RuntimeError):
            return None
        return file if fits else None

    def referred(self, source: str, around: str) -> list[str]:
        """What the names in a page's references stand for at present, so that a change is seen.

        All that stands beside a backtick may be a reference: to take more than there are is no harm.
        """
        found = [f"{name} {title}" for name, title in self.titles.items()] if "toctree" in source.lower() else []
        for piece in sorted(set(source.split("`"))):
            if len(piece) <= _LONGEST_NAME:
                for name in (piece.lstrip("!"), piece.rpartition("<")[2].rstrip("> ")):
                    found += filter(None, [str(self.label(name) or ""), self.titles.get(self.page(name, around), "")])
        return found

    def label(self, name: str) -> Target | None:
        """Where a label leads."""
        return self.labels.get(" ".join(name.lower().split()))


def link(around: str, page: str, anchor: str = "") -> str:
    """A link from one page to another, as `search.retrieval.links` reads it: relative to the path of the page."""
    if page == around:
        return f"#{anchor}"
    folder = posixpath.dirname(normalize(around))
    place = posixpath.relpath(normalize(page), folder)
    return f"{place}#{anchor}" if anchor else place


def title_of(source: str) -> str:
    """The title of a page; empty when it has none."""
    found = _TITLE.search(source)
    return plain(found[2]) if found else ""


def labels_of(source: str, page: str) -> Iterator[tuple[str, Target]]:
    """The labels of a page, each with the title or the caption that follows it."""
    waiting: list[str] = []  # labels that stand together
    end = 0
    for label in _LABEL.finditer(source):
        if source[end : label.start()].strip():
            yield from _titled(waiting, source, end, page)
            waiting = []
        waiting.append(" ".join((label[1] or label[2]).replace("\\", "").lower().split()))
        end = label.end()
    yield from _titled(waiting, source, end, page)


def plain(text: str) -> str:
    """A line of reStructuredText without its markup."""
    return " ".join(_MARKUP.sub(lambda mark: mark[1] or "", text[:MOST_TITLE]).split())


def _titled(names: list[str], source: str, end: int, page: str) -> Iterator[tuple[str, Target]]:
    """Labels with the title that follows the last of them, which ends at `end`."""
    title = _title_at(source, end) if names else ""
    for name in names:
        yield name, Target(page, nodes.make_id(name), title)


def _title_at(source: str, at: int) -> str:
    start = cast(re.Match[str], _BLANK.match(source, at)).end()
    line_start = source.rfind("\n", 0, start) + 1
    if title := _TITLE.match(source, line_start):
        return plain(title[2])
    if caption := _CAPTION.match(source, line_start):
        if named := _CAPTION_OPTION.search(caption["options"]):
            return plain(named[1])
        if "figure" in caption[0]:
            text = _FIGURE_TEXT.match(source, caption.end())
            return plain(text[1]) if text else ""
        return plain(caption[1])
    return ""
