"""How a generator renders a folder of Markdown: the addresses of its pages and the anchors of its headings."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from search.sources import PageRedirect
from search.sources.files import MARKDOWN, read_text_in_folder
from search.sources.markdown.includes import Includes
from search.sources.markdown.slugs import Slugs

MAX_CONFIG = 1024 * 1024  # bytes of a configuration file
MAX_STARS = 6  # of one pattern
_GLOB = re.compile(r"(?:\*\*/)+|\*+|.")
_WILD = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
Meta = Mapping[str, Any]  # what a page says of itself, or the navigation of it


@dataclass(frozen=True)
class Tree:
    """A folder of pages. `base` is where they stand, from the docs URL on; without slashes around it."""

    folder: Path
    base: str = ""
    version: str = ""
    language: str = ""


@dataclass(frozen=True)
class Site:
    """How a generator renders a folder.

    - `address` gives a page's address below its tree's base, from the name of its file in the tree and its front
      matter; None when that is its path.
    - `is_page` is False for partials.
    - `notes` has the navigation's metadata of pages by their files' names without the ending.
    - `moved` has the redirects from the configuration.
    """

    generator: str
    trees: tuple[Tree, ...]
    address: Callable[[str, Meta], str | None]
    is_page: Callable[[str], bool] = lambda name: True
    slugs: Slugs | None = None
    includes: Includes | None = None
    notes: Mapping[str, Meta] = field(default_factory=dict)
    moved: tuple[PageRedirect, ...] = ()


def read_config(root: Path, file: Path) -> str:
    """The text of a configuration file below a root. Raises ValueError with a sentence when it cannot be read."""
    try:
        return read_text_in_folder(root, file, MAX_CONFIG)
    except ValueError as wrong:
        raise ValueError(f"{file.name} {wrong}") from None


def read_json(root: Path, file: Path) -> Any:
    """What a configuration file says in JSON. Raises ValueError with a sentence when it cannot be read."""
    text = read_config(root, file)
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(f"{file.name} is nested too deeply") from None
    except ValueError as wrong:
        raise ValueError(f"{file.name} is not JSON (line {getattr(wrong, 'lineno', 1)})") from None


def stem(name: str) -> str:
    """A file's name without its ending: `guide/install` of `guide/install.mdx`."""
    bare, dot, ending = name.rpartition(".")
    return bare if f"{dot}{ending}".lower() in MARKDOWN else name


def ignore_rule(patterns: str) -> Callable[[str], bool]:
    """A function that says whether `.gitignore` patterns ignore a file. The last pattern that matches decides."""
    lines = [line for line in map(str.strip, patterns.split("\n")[:500]) if line and not line.startswith("#")]
    return partial(_is_ignored, [(line.startswith("!"), _pattern(line.lstrip("!"))) for line in lines])


def _is_ignored(rules: list[tuple[bool, re.Pattern[str]]], name: str) -> bool:
    ignored = False
    for kept, pattern in rules:
        if ignored == kept and pattern.match(name):
            ignored = not kept
    return ignored


def _pattern(line: str) -> re.Pattern[str]:
    """One pattern: with a slash before its end it is of the whole path, else of any folder's or file's name."""
    pieces = _GLOB.findall(line.strip("/")[:200])
    if sum(piece in _WILD for piece in pieces) > MAX_STARS:
        return re.compile("(?!)")  # nobody means that, and it could take very long
    written = "".join(_WILD.get(piece, re.escape(piece)) for piece in pieces)
    start = "" if "/" in line.rstrip("/") else "(?:.*/)?"
    return re.compile(f"{start}{written}{'/' if line.endswith('/') else '(?:/|$)'}")
