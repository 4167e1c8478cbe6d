"""Front matter: a page's metadata in YAML above its text."""

import math
import re
from collections.abc import Iterator
from typing import Any

import yaml

from search.sources import ExcludedPage

MIN_BOOST, MAX_BOOST = 0.1, 10.0
MAX_FRONT_MATTER = 64 * 1024  # bytes
MAX_WORDS, MAX_WORD = 100, 100  # of tags, and of keywords
FIELDS = ("title", "description", "version", "language")
# What keeps a page from being found: ours, Material's `search: {exclude: true}`, Docusaurus's and VitePress's drafts
# and unlisted pages, Mintlify's hidden pages and those that it keeps from every index.
_HIDING = (
    ("searchable", "false"),
    ("search", "false"),
    ("draft", "true"),
    ("unlisted", "true"),
    ("hidden", "true"),
    ("noindex", "true"),
)
_FORMER = ("redirect_from", "redirects", "aliases")  # Jekyll's, Mintlify's and Hugo's names for where a page was before
_NAMED_LINE = re.compile(r"[A-Za-z][\w-]*:(?:\s|$)")


def front_matter(source: str) -> tuple[dict[str, Any], str]:
    """Split a page into its YAML front matter and its Markdown. Raises ValueError when the YAML is wrong or too long.

    Aliases can make a value far larger than the file, so nobody may walk through or print what is nested.
    """
    lines = source.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return {}, source
    try:
        end = next(i for i, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "..."))
    except StopIteration:
        return {}, source  # a rule, not front matter
    text = "\n".join(lines[1:end])
    if len(text.encode("utf-8", "surrogatepass")) > MAX_FRONT_MATTER:
        raise ValueError("its front matter is larger than 64 KiB")
    try:
        front = _yaml(text)
    except ValueError:
        front = _readable_lines(lines[1:end])
        if not front:
            raise
    if front is None:
        front = {}
    if not isinstance(front, dict):
        raise ValueError("its front matter is not a list of names and values")
    return front, "\n".join(lines[end + 1 :])


def text_of(meta: dict[str, Any], name: str) -> str | None:
    """A single value as text, None where there is none. Raises ValueError for what is nested."""
    value = meta.get(name)
    if value is None or value == "":
        return None
    if not _is_single(value):
        raise ValueError(f"its `{name}` is not text")
    return str(value).strip()


def words_of(meta: dict[str, Any], name: str) -> tuple[str, ...]:
    """A list of single values, or a text with commas: at most 100 words of at most 100 characters."""
    value = meta.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        raise ValueError(f"its {name} are not a list")
    if not all(map(_is_single, value)):
        raise ValueError(f"its `{name}` are not a list of words")
    words = dict.fromkeys(str(word).strip()[:MAX_WORD].strip() for word in value)
    return tuple(word for word in words if word)[:MAX_WORDS]


def boost_of(meta: dict[str, Any]) -> float:
    """The page's boost, or that below `search`. A word instead of a number belongs to another tool and is ignored."""
    search = meta.get("search")
    value = meta.get("boost") or (search.get("boost") if isinstance(search, dict) else None)
    try:
        boost = float(value or 1)
    except (TypeError, ValueError):
        return 1.0
    if not math.isfinite(boost) or boost <= 0:
        raise ValueError("its boost is not a positive number")
    return min(max(boost, MIN_BOOST), MAX_BOOST)


def exclusion_of(meta: dict[str, Any], origin: str) -> ExcludedPage | None:
    """Why the page is excluded from search, if its front matter excludes it."""
    search = meta.get("search")
    if isinstance(search, dict) and _says(search.get("exclude"), "true"):
        return ExcludedPage(origin, "its front matter says `search: {exclude: true}`")
    for name, value in _HIDING:
        if _says(meta.get(name), value):
            return ExcludedPage(origin, f"its front matter says `{name}: {value}`")
    return None


def former_places(meta: dict[str, Any]) -> Iterator[str]:
    """Former paths of the page. Aliases that are names and not paths, as Obsidian has them, are ignored."""
    for name in _FORMER:
        value = meta.get(name)
        for place in (value if isinstance(value, list) else [value])[:MAX_WORDS]:
            if isinstance(place, str) and "/" in place and "://" not in place and not place.startswith("//"):
                yield place.strip()


def _yaml(text: str) -> Any:
    """YAML with all values as text: version 1.10 is not 1.1."""
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as wrong:
        mark = getattr(wrong, "problem_mark", None)
        raise ValueError(f"its front matter is not YAML{f' (line {mark.line + 2})' if mark else ''}") from None


def _readable_lines(lines: list[str]) -> dict[str, Any]:
    """The readable `name: value` lines of front matter that is not valid YAML: one bad line should not hide a page."""
    front: dict[str, Any] = {}
    for line in lines[:200]:
        if _NAMED_LINE.match(line):
            try:
                front.update(_yaml(line))
            except ValueError:
                continue
    return front


def _is_single(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _says(value: Any, wanted: str) -> bool:
    return isinstance(value, str) and value.lower() == wanted
