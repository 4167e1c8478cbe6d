"""The whole site as one page sees it: titles, labels and settings, found without docutils."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from docutils import nodes

from docsite.core.paths import normalize

MAX_BYTES = 2 * 1024 * 1024  # of a page or of a file that it includes
MAX_PARSED = 500_000  # characters of a page that docutils gets
MAX_WRITTEN = 2 * 1024 * 1024  # characters of a page in Markdown
MAX_TITLE = 500  # characters; each reference to a page repeats its title
_MAX_NAME = 1000  # characters of a reference, with its title

_LABEL = re.compile(r"^ *\.\. _(?!_)(?:`([^`\n]+)`|((?:[^:\n\\]|\\.)+)): *$", re.MULTILINE)
_TITLE = re.compile(
    r"^(?:([!-/:-@\[-`{-~])\1+[ ]*\n)?(?! *\.\. )[ ]*(\S[^\n]*)\n([!-/:-@\[-`{-~])\3{2,}[ ]*$", re.MULTILINE
)
_TEXT = re.compile(r"^[ ]*\S", re.MULTILINE)
_MARKUP = re.compile(r":[\w+.:-]+:`(?:~[\w.]*\.|!)?([^`<]*?)(?:\s*<[^`>]*>)?`|(?<!\\)(?:``?|\*\*?|\|)|\\")


class Target(NamedTuple):
    """The place of a label: a page by its Sphinx name, an anchor, and the title there."""

    page: str
    anchor: str
    title: str


@dataclass(frozen=True)
class Site:
    """The pages of a project. A page's name is its path from `root`, without the file's ending, as in Sphinx.

    Included files lie below `bounds`: the root or a folder above it. Without a root nothing is included.
    `extlinks` holds the address and the caption of each role. `targets` and `objects` are the directives
    that the project defines for places and for things. `headings` are those of pages in MyST that links
    may name, by page and slug; `smart` says that their quotes are typographic.
    """

    root: Path | None = None
    bounds: Path | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Target] = field(default_factory=dict)
    extlinks: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    headings: Mapping[str, Mapping[str, Target]] = field(default_factory=dict)
    targets: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    highlight: str = ""
    default_role: str = ""
    prolog: str = ""
    epilog: str = ""
    smart: bool = False

    def page(self, reference: str, around: str) -> str:
        """The page that a reference on the page `around` means. A leading slash means the root."""
        return posixpath.normpath(place_of(re.sub(r"\.(?:rst|txt|md)$", "", reference.strip()), around))

    def label(self, name: str) -> Target | None:
        """The place of a label."""
        return self.labels.get(" ".join(name.lower().split()))

    def included(self, reference: str, around: str) -> Path | None:
        """The file that a page includes; None when there is no such file inside the bounds."""
        if not self.root or "\x00" in reference or len(reference) > _MAX_NAME:
            return None
        try:
            file = (self.root / place_of(reference, around)).resolve()
            inside = file.is_relative_to((self.bounds or self.root).resolve())
            return file if inside and file.is_file() and file.stat().st_size <= MAX_BYTES else None
        except (OSError, RuntimeError):
            return None

    def referred(self, source: str, around: str) -> list[str]:
        """The present titles and places behind the references of a page: its digest depends on them.

        Any text beside a backtick may be a reference. Too many do no harm.
        """
        found = [f"{name} {title}" for name, title in self.titles.items()] if "toctree" in source.lower() else []
        for piece in sorted(set(source.split("`"))):
            if len(piece) <= _MAX_NAME:
                for name in (piece.lstrip("!"), piece.rpartition("<")[2].rstrip("> ")):
                    found += filter(None, [str(self.label(name) or ""), self.titles.get(self.page(name, around), "")])
        return found


def place_of(reference: str, around: str) -> str:
    """The path from the root to a file that the file `around` names."""
    return reference[1:] if reference.startswith("/") else posixpath.join(posixpath.dirname(around), reference)


def link(around: str, page: str, anchor: str = "") -> str:
    """A link between two pages, relative to the path of the first, as `search.retrieval.links` reads it."""
    if page == around:
        return f"#{anchor}"
    place = posixpath.relpath(normalize(page), posixpath.dirname(normalize(around)))
    return f"{place}#{anchor}" if anchor else place


def title_of(source: str) -> str:
    """The title of a page; empty when it has none."""
    found = _TITLE.search(source)
    return plain(found[2]) if found else ""


def labels_of(source: str, page: str) -> Iterator[tuple[str, Target]]:
    """The labels of a page by normalized name, each with the title behind it, if there is one."""
    names: list[str] = []
    end = 0
    for label in [*_LABEL.finditer(source), None]:
        if names and (label is None or source[end : label.start()].strip()):
            text = _TEXT.search(source, end)
            title = _TITLE.match(source, text.start()) if text else None
            for name in names:
                yield name, Target(page, nodes.make_id(name), plain(title[2]) if title else "")
            names = []
        if label:
            names.append(" ".join((label[1] or label[2]).replace("\\", "").lower().split()))
            end = label.end()


def plain(text: str) -> str:
    """A line of reStructuredText without its markup."""
    return " ".join(_MARKUP.sub(lambda mark: mark[1] or "", text[:MAX_TITLE]).split())
