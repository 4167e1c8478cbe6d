"""Front matter: a page's metadata in YAML, TOML or JSON above its text."""

import json
import math
import re
import tomllib
from collections.abc import Iterator
from datetime import date
from typing import Any

import yaml

from docsite.core.access.readers import normalize_groups
from search.sources import ExcludedPage
from search.text.language import is_language

MIN_BOOST, MAX_BOOST = 0.1, 10.0
MAX_FRONT_MATTER = 64 * 1024  # bytes
MAX_WORDS, MAX_WORD = 100, 100  # of tags, and of keywords
FIELDS = ("title", "description", "version", "language")
_LANGUAGE_FIELDS = ("lang", "locale")  # of Jekyll, VitePress and others, unless it is no language but `lang: python`
# Values that exclude a page from search: our own, and those of Material, Docusaurus, VitePress, Starlight and Mintlify
# for drafts, and for unlisted, hidden and unindexed pages.
_EXCLUDING_VALUES = (
    ("searchable", "false"),
    ("search", "false"),
    ("pagefind", "false"),
    ("draft", "true"),
    ("unlisted", "true"),
    ("hidden", "true"),
    ("noindex", "true"),
)
_FORMER_PATH_FIELDS = ("redirect_from", "redirects", "aliases")  # of Jekyll, Mintlify and Hugo
_ENDS = {"---": ("---", "..."), "+++": ("+++",), "{": ("}",)}  # of front matter, by its first line
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NAMED_LINE = re.compile(r"[A-Za-z][\w-]*:(?:\s|$)")
# Lines of which YAML says no more than they show: a name and one plain or quoted text. Most pages have no others, and
# PyYAML would take as long for them as an ingest takes to cut such a page into sections. libyaml is fast, but deeply
# nested YAML crashes the process there.
_LATIN = "\u00a0-\u024f\u2010-\u2027"
_SIMPLE_LINE = re.compile(
    rf"([A-Za-z][A-Za-z0-9_-]{{0,99}}): +(?:([A-Za-z0-9](?:[A-Za-z0-9 ,./(){{}}'_{_LATIN}-]*[A-Za-z0-9.,/()_-])?)"
    rf"|\"([ !#-\[\]-~{_LATIN}]*)\"|'([ -&(-~{_LATIN}]*)') *(?:\n|$)"
)


def split_front_matter(source: str) -> tuple[dict[str, Any], str]:
    """Split a page into its front matter and its Markdown. Raises ValueError when that is wrong or too long.

    It is YAML between lines of `---`, TOML between lines of `+++`, or a JSON object. All values are text.

    Aliases can make a nested value far larger than the file, so never walk through one or print it.
    """
    lines = source.replace("\r\n", "\n").split("\n")
    start = lines[0].rstrip()
    if start not in _ENDS:
        return {}, source
    try:
        end = next(i for i, line in enumerate(lines[1:], 1) if line.rstrip() in _ENDS[start])
    except StopIteration:
        return {}, source  # a horizontal rule, not front matter
    text = "\n".join(lines[1:end])
    if len(text.encode("utf-8", "surrogatepass")) > MAX_FRONT_MATTER:
        raise ValueError("its front matter is larger than 64 KiB")
    body = "\n".join(lines[end + 1 :])
    if start != "---":
        return _add_language(_load_typed(text, is_json=start == "{")), body
    try:
        front = _load_yaml(text)
    except ValueError:
        front = _load_valid_lines(lines[1:end])
        if not front:
            raise
    if front is None:
        front = {}
    if not isinstance(front, dict):
        raise ValueError("its front matter is not a list of names and values")
    return _add_language(front), body


def _add_language(front: dict[str, Any]) -> dict[str, Any]:
    """The front matter, with a language that it has under another name."""
    codes = [code for name in _LANGUAGE_FIELDS if isinstance(code := front.get(name), str) and is_language(code)]
    return {**front, "language": codes[0]} if codes and "language" not in front else front


def get_text(meta: dict[str, Any], name: str) -> str | None:
    """A field as text; None if it is missing. Raises ValueError for a nested value."""
    value = meta.get(name)
    if value is None or value == "":
        return None
    if not _is_single(value):
        raise ValueError(f"its `{name}` is not text")
    return str(value).strip()


def get_words(meta: dict[str, Any], name: str) -> tuple[str, ...]:
    """A field as words, from a list or a text with commas: at most 100 words of at most 100 characters."""
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


def get_groups(meta: dict[str, Any]) -> tuple[str, ...] | None:
    """The groups of readers that the page names, from a list or a text with commas; None if it says nothing of them."""
    value = meta.get("groups")
    if value is None or value == "":
        return None
    if isinstance(value, str):
        value = [name for name in value.split(",") if name.strip()]
    if not isinstance(value, list) or not all(map(_is_single, value)):
        raise ValueError("its `groups` are not a list of names")
    try:
        return normalize_groups([str(name) for name in value])
    except ValueError as wrong:
        raise ValueError(f"its `groups` field {wrong}") from None


def collect_fields(meta: dict[str, Any]) -> dict[str, Any]:
    """The fields of `Page` that the metadata name. Raises ValueError for a nested value.

    Groups are missing where the page names none, so that its digest stays what it was.
    """
    fields: dict[str, Any] = {key: words for key in FIELDS if (words := get_text(meta, key)) is not None}
    fields["tags"] = tuple(dict.fromkeys(get_words(meta, "tags") + get_words(meta, "tag")))[:MAX_WORDS]
    fields |= {"keywords": get_words(meta, "keywords"), "boost": get_boost(meta)}
    groups = get_groups(meta)
    return fields if groups is None else {**fields, "groups": groups}


def get_boost(meta: dict[str, Any]) -> float:
    """The page's `boost`, or `boost` in `search`. A value that is no number belongs to another tool and is ignored."""
    search = meta.get("search")
    value = meta.get("boost") or (search.get("boost") if isinstance(search, dict) else None)
    try:
        boost = float(value or 1)
    except (TypeError, ValueError):
        return 1.0
    if not math.isfinite(boost) or boost <= 0:
        raise ValueError("its boost is not a positive number")
    return min(max(boost, MIN_BOOST), MAX_BOOST)


def find_exclusion(meta: dict[str, Any], origin: str) -> ExcludedPage | None:
    """The excluded page with the reason, if its front matter excludes it from search."""
    search = meta.get("search")
    if isinstance(search, dict) and _equals_ignoring_case(search.get("exclude"), "true"):
        return ExcludedPage(origin, "its front matter says `search: {exclude: true}`")
    for name, value in _EXCLUDING_VALUES:
        if _equals_ignoring_case(meta.get(name), value):
            return ExcludedPage(origin, f"its front matter says `{name}: {value}`")
    expiry = meta.get("expiryDate")
    if isinstance(expiry, str) and _DAY.match(expiry) and expiry[:10] < date.today().isoformat():
        return ExcludedPage(origin, "its `expiryDate` is over")
    return None


def get_former_paths(meta: dict[str, Any]) -> Iterator[str]:
    """Yield former paths of the page. Aliases without a slash are names, as in Obsidian, and are ignored."""
    for name in _FORMER_PATH_FIELDS:
        value = meta.get(name)
        for path in (value if isinstance(value, list) else [value])[:MAX_WORDS]:
            if isinstance(path, str) and "/" in path and "://" not in path and not path.startswith("//"):
                yield path.strip()


def _load_typed(text: str, *, is_json: bool) -> dict[str, Any]:
    """Load TOML, or the inside of a JSON object."""
    try:
        front = json.loads(f"{{{text}}}") if is_json else tomllib.loads(text)
        return {name: _to_text(value) for name, value in front.items()}
    except (ValueError, RecursionError):
        raise ValueError(f"its front matter is not {'JSON' if is_json else 'TOML'}") from None


def _to_text(value: Any) -> Any:
    """The value with text instead of numbers, days and flags, as in YAML."""
    if isinstance(value, dict):
        return {name: _to_text(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_to_text(inner) for inner in value]
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _load_yaml(text: str) -> Any:
    """Load YAML with all values as text, so that version 1.10 does not become 1.1."""
    front, at = {}, 0
    while line := _SIMPLE_LINE.match(text, at):
        front[line[1]] = line[2] or line[3] or line[4] or ""
        at = line.end()
    if front and at == len(text):
        return front
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as wrong:
        mark = getattr(wrong, "problem_mark", None)
        raise ValueError(f"its front matter is not YAML{f' (line {mark.line + 2})' if mark else ''}") from None


def _load_valid_lines(lines: list[str]) -> dict[str, Any]:
    """Load the valid `name: value` lines of invalid YAML, so that one bad line does not exclude a page."""
    front: dict[str, Any] = {}
    for line in lines[:200]:
        if _NAMED_LINE.match(line):
            try:
                front.update(_load_yaml(line))
            except ValueError:
                continue
    return front


def _is_single(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _equals_ignoring_case(value: Any, expected: str) -> bool:
    return isinstance(value, str) and value.lower() == expected
