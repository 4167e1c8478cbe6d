"""The whole project as one page sees it: titles, labels and settings. They are found without docutils."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from docutils import nodes

from docsite.core.paths import normalize
from search.sources.files import resolve_links

MAX_BYTES = 2 * 1024 * 1024  # of a page or of a file that it includes
MAX_PARSED = 500_000  # characters of a page that docutils gets
MAX_MARKDOWN = 2 * 1024 * 1024  # characters of a page in Markdown
MAX_TITLE = 500  # characters; each reference to a page repeats its title
_MAX_NAME = 1000  # characters of a reference, with its title

_LABEL = re.compile(r"^ *\.\. _(?!_)(?:`([^`\n]+)`|((?:[^:\n\\]|\\.)+)): *$", re.MULTILINE)
_TITLE = re.compile(
    r"^(?:([!-/:-@\[-`{-~])\1+[ ]*\n)?(?! *\.\. )[ ]*(\S[^\n]*)\n([!-/:-@\[-`{-~])\3{2,}[ ]*$", re.MULTILINE
)
_TEXT = re.compile(r"^[ ]*\S", re.MULTILINE)
_MARKUP = re.compile(r":[\w+.:-]+:`(?:~[\w.]*\.|!)?([^`<]*?)(?:\s*<[^`>]*>)?`|(?<!\\)(?:``?|\*\*?|\|)|\\")


class Target(NamedTuple):
    """Where a label leads: a page by its Sphinx name, an anchor, and the title there."""

    page: str
    anchor: str
    title: str


@dataclass(frozen=True)
class Site:
    """The pages of a project. The name of a page is its path from `root` without the file's ending, as in Sphinx.

    - `include_root`: included files are below it. It is `root` or a folder above; without a root nothing is included.
    - `extlinks`: the address and the caption of each role
    - `headings`: the headings of MyST pages that links may name, by page and slug
    - `smart_quotes`: whether MyST pages have typographic quotes
    - `crossref_types`, `object_types`: directives that the project defines with Sphinx' functions of these names
    """

    root: Path | None = None
    include_root: Path | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Target] = field(default_factory=dict)
    extlinks: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    headings: Mapping[str, Mapping[str, Target]] = field(default_factory=dict)
    crossref_types: frozenset[str] = frozenset()
    object_types: frozenset[str] = frozenset()
    highlight: str = ""
    default_role: str = ""
    prolog: str = ""
    epilog: str = ""
    smart_quotes: bool = False

    def resolve_page(self, reference: str, from_page: str) -> str:
        """The name of the page that a reference means. A leading slash means the root."""
        return posixpath.normpath(resolve_path(re.sub(r"\.(?:rst|txt|md)$", "", reference.strip()), from_page))

    def find_label(self, name: str) -> Target | None:
        return self.labels.get(nodes.fully_normalize_name(name))

    def find_include(self, reference: str, from_page: str) -> Path | None:
        """The file that a page includes; None when there is no such file below `include_root`."""
        if not self.root or "\x00" in reference or len(reference) > _MAX_NAME:
            return None
        try:
            file = resolve_links(self.root / resolve_path(reference, from_page))
            is_inside = file.is_relative_to(resolve_links(self.include_root or self.root))
            return file if is_inside and file.is_file() else None
        except OSError:
            return None

    def link_targets(self, source: str, page: str) -> list[str]:
        """The present titles and targets of the references on a page. The page's digest depends on them.

        Any text beside a backtick may be a reference. Too many do no harm.
        """
        targets = [f"{name} {title}" for name, title in self.titles.items()] if "toctree" in source.lower() else []
        for piece in sorted(set(source.split("`"))):
            if len(piece) <= _MAX_NAME:
                for name in (piece.lstrip("!"), piece.rpartition("<")[2].rstrip("> ")):
                    title = self.titles.get(self.resolve_page(name, page), "")
                    targets += filter(None, [str(self.find_label(name) or ""), title])
        return targets


def resolve_path(reference: str, from_page: str) -> str:
    """The path from the root to a file that a page, or an included file, names."""
    return reference[1:] if reference.startswith("/") else posixpath.join(posixpath.dirname(from_page), reference)


def relative_link(from_page: str, page: str, anchor: str = "") -> str:
    """A link between two pages, relative to the path of the first, as `search.retrieval.links` reads it."""
    if page == from_page:
        return f"#{anchor}"
    path = posixpath.relpath(normalize(page), posixpath.dirname(normalize(from_page)))
    return f"{path}#{anchor}" if anchor else path


def find_title(source: str) -> str:
    """The title of a page; empty when it has none."""
    title = _TITLE.search(source)
    return strip_markup(title[2]) if title else ""


def find_labels(source: str, page: str) -> Iterator[tuple[str, Target]]:
    """The labels of a page by normalized name. A label has the title that follows it, if there is one."""
    names: list[str] = []
    end = 0
    for label in [*_LABEL.finditer(source), None]:
        if names and (label is None or source[end : label.start()].strip()):
            text = _TEXT.search(source, end)
            title = _TITLE.match(source, text.start()) if text else None
            for name in names:
                yield name, Target(page, nodes.make_id(name), strip_markup(title[2]) if title else "")
            names = []
        if label:
            names.append(nodes.fully_normalize_name((label[1] or label[2]).replace("\\", "")))
            end = label.end()


def strip_markup(text: str) -> str:
    """A line of reStructuredText without its markup."""
    return " ".join(_MARKUP.sub(lambda mark: mark[1] or "", text[:MAX_TITLE]).split())
