"""Types and helpers for generators that render a folder of Markdown."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from search.sources import PageRedirect, Problem
from search.sources.files import MARKDOWN
from search.sources.markdown.includes import Includes
from search.sources.markdown.slugs import Slugs

CONFIGURATION = "configuration"  # the kind of problems with it
MAX_STARS = 6  # of one pattern
MAX_PATTERNS = 500
_BEFORE_ZONE = re.compile(r"\s(?=[-+]\d\d:?\d\d$)")
_ZONE_NAME = re.compile(r"(?<=\d) (?:UTC|GMT)$|(?<=[-+]\d{4}) [A-Z]{3,5}$")  # Go writes `+0000 UTC`
_GLOB = re.compile(r"(?:\*\*/)+|\*+|.")
_WILD = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
Meta = Mapping[str, Any]  # metadata of a page, from its front matter or the navigation


@dataclass(frozen=True)
class Tree:
    """A folder of pages. `base` is their address relative to the docs URL, without slashes around it."""

    folder: Path
    base: str = ""
    version: str = ""
    language: str = ""


@dataclass(frozen=True)
class Site:
    """How a generator renders a folder.

    - `address` computes a page's address, relative to its tree's base, from its file name and front matter. None means
      that the address is the path of the file.
    - `is_page` is False for files that are only included in others.
    - `find_exclusion` says why the generator does not publish a page, or keeps it out of search, by its file name and
      its metadata; empty if it does neither.
    - `page_metadata` is that of the navigation or of a section for its pages, by file name without ending, or by
      path without ending where trees may have files of the same name.
    - `redirects` come from the configuration. `problems` say what of it is not read whole, or not run.
    - `languages` has the language of pages by the first folder of their address below `base`, the address of the site.
      The key "" is for all other pages.
    - `slugs` makes the anchors of headings, `includes` reads files that pages include.
    - `expand` and `rewrite` make Markdown of what only this generator understands. `expand` is for what depends on
      other files or on the page's metadata. It adds to a list what it could not read.
    - `find_title` finds a title that stands in the text, but is no heading. `uses_title` says that a page's address
      depends on its title, which `address` then finds in the front matter. `is_mdx` says whether a `.md` file with this
      front matter is MDX.
    """

    generator: str
    trees: tuple[Tree, ...]
    address: Callable[[str, Meta], str | None]
    is_page: Callable[[str], bool] = lambda name: True
    slugs: Slugs | None = None
    includes: Includes | None = None
    page_metadata: Mapping[str, Meta] = field(default_factory=dict)
    redirects: tuple[PageRedirect, ...] = ()
    problems: Sequence[Problem] = ()
    languages: Mapping[str, str] = field(default_factory=dict)
    base: str = ""
    rewrite: Callable[[str], str] | None = None
    find_title: Callable[[str], str] = lambda body: ""
    uses_title: bool = False
    find_exclusion: Callable[[str, Meta], str] = lambda name, meta: ""
    expand: Callable[[str, Meta, list[Problem]], str] | None = None
    is_mdx: Callable[[Meta], bool] = lambda front: False

    def find_metadata(self, file: Path, name: str) -> Meta:
        """The metadata in `page_metadata` of a file with this name in its tree."""
        return self.page_metadata.get(remove_ending(str(file))) or self.page_metadata.get(remove_ending(name), {})

    def find_language(self, address: str) -> str:
        """The language of the page at an address relative to the docs URL; empty if it is not known."""
        first, slash, _ = address.removeprefix(f"{self.base}/").partition("/")
        return self.languages.get(first if slash else "") or self.languages.get("", "")


def as_mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def find_cut(name: str, count: int, limit: int) -> list[Problem]:
    """What is said of a setting of which only the first entries are read; empty if it has no more."""
    return [Problem(CONFIGURATION, f"{name}: the first {limit:,} of {count:,} are read")] if count > limit else []


def is_future(moment: Any) -> bool:
    """Whether a date or a time, as YAML or TOML have it, is still to come; False if it cannot be read."""
    parsed = _parse_moment(moment)
    return parsed is not None and parsed > datetime.now(UTC)


def is_past(moment: Any) -> bool:
    """Whether a date or a time is over; False if it cannot be read."""
    parsed = _parse_moment(moment)
    return parsed is not None and parsed <= datetime.now(UTC)


def _parse_moment(moment: Any) -> datetime | None:
    """The date or time, which is UTC without a zone; None if it cannot be read."""
    try:
        parsed = datetime.fromisoformat(_BEFORE_ZONE.sub("", _ZONE_NAME.sub("", str(moment).strip())))
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def remove_ending(name: str) -> str:
    """A file's name without a Markdown ending: `guide/install` for `guide/install.mdx`."""
    bare, dot, ending = name.rpartition(".")
    return bare if f"{dot}{ending}".lower() in MARKDOWN else name


def compile_ignore_rules(patterns: str) -> Callable[[str], bool]:
    """A function that checks whether `.gitignore` patterns ignore a file. The last matching pattern decides.

    Raises ValueError for more than `MAX_PATTERNS`: without the rest, pages would be read that the site leaves out.
    """
    lines = [line for line in map(str.strip, patterns.split("\n")) if line and not line.startswith("#")]
    if len(lines) > MAX_PATTERNS:
        raise ValueError(f"the configuration has more than {MAX_PATTERNS} patterns of files to leave out")
    return partial(_is_ignored, [(line.startswith("!"), _compile_pattern(line.lstrip("!"))) for line in lines])


def _is_ignored(rules: list[tuple[bool, re.Pattern[str]]], name: str) -> bool:
    ignored = False
    for is_negated, pattern in rules:
        if ignored == is_negated and pattern.match(name):
            ignored = not is_negated
    return ignored


def _compile_pattern(line: str) -> re.Pattern[str]:
    """Compile one pattern. With a slash inside it matches the whole path, else the name of any folder or file."""
    pieces = _GLOB.findall(line.strip("/")[:200])
    if sum(piece in _WILD for piece in pieces) > MAX_STARS:
        return re.compile("(?!)")  # matches nothing; so many stars could take very long
    pattern = "".join(_WILD.get(piece, re.escape(piece)) for piece in pieces)
    start = "" if "/" in line.rstrip("/") else "(?:.*/)?"
    return re.compile(f"{start}{pattern}{'/' if line.endswith('/') else '(?:/|$)'}")
