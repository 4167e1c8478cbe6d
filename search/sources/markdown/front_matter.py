"""Front matter: a page's metadata in YAML, TOML or JSON above its text."""

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import yaml

from docsite.core.access.readers import normalize_groups
from search.sources import ExcludedPage, Problem
from search.text.language import is_language

MIN_BOOST, MAX_BOOST = 0.1, 10.0
MAX_FRONT_MATTER = 64 * 1024  # bytes
MAX_ENTRIES = 500  # of invalid front matter that are read one by one
MAX_WORDS, MAX_WORD = 100, 100  # of tags, and of keywords
FRONT_MATTER = "front matter"  # the kind of its problems
FIELDS = ("title", "description", "version", "language")
_UNSEEN = " \u00a0\u200b\u200c\u200d\u2060\ufeff"  # characters
_LANGUAGE_FIELDS = ("lang", "locale")  # of Jekyll, VitePress and others, unless it is no language but `lang: python`
# Values that exclude a page: our own, and those of generators and themes for drafts and for unlisted, hidden and
# unindexed pages. Names count without case, hyphens and underscores.
_EXCLUDING_VALUES = {
    **dict.fromkeys(("searchable", "search", "pagefind", "published"), ("false", "no", "off")),
    **dict.fromkeys(
        (
            *("draft", "unlisted", "hidden", "noindex", "nosearch", "searchexclude", "excludesearch", "searchhidden"),
            *("excludefromsearch", "booksearchexclude", "robotsnoindex"),
        ),
        ("true", "yes", "on"),
    ),
}
MAX_HEAD = 50  # elements of `head` that are looked at
_FORMER_PATH_FIELDS = ("redirect_from", "redirects", "aliases")  # of Jekyll, Mintlify and Hugo
_ENDS = {"---": ("---", "..."), "+++": ("+++",), "{": ("}",)}  # of front matter, by its first line
_JOINTS = re.compile("[-_]")
_ENTRY = re.compile(r"[\"']?([A-Za-z_][\w.-]{0,99})[\"']?[ \t]{0,9}(?:=|:(?=\s|$))")
_NESTED = re.compile(r"\n(?:\S|[^\S\n]*+(?:-\s|[\w-]{1,100}:\s))")  # in an entry: more than one text
# Text that may be meant as the page's groups, also where a blank or a colon is missing.
_GROUPS = re.compile(r"(?m)\b(?i:groups)\b[\"']?+\s*+[\"':=\[{]|^[ \t]*+[\"']?groups\b")
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_DELIMITER = re.compile(r"\s*+(?:---|\+\+\+|\{(?![{%/]))")
UNKNOWN_GROUPS = object()  # the `groups` in metadata of a page whose section has some that cannot be read
# Lines of which YAML says no more than they show: a name and one plain or quoted text. Most pages have no others, and
# PyYAML would take as long for them as an ingest takes to cut such a page into sections. libyaml is fast, but deeply
# nested YAML crashes the process there.
_LATIN = "\u00a0-\u024f\u2010-\u2027"
_SIMPLE_LINE = re.compile(
    rf"([A-Za-z][A-Za-z0-9_-]{{0,99}}): +(?:([A-Za-z0-9](?:[A-Za-z0-9 ,./(){{}}'_{_LATIN}-]*[A-Za-z0-9.,/()_-])?)"
    rf"|\"([ !#-\[\]-~{_LATIN}]*)\"|'([ -&(-~{_LATIN}]*)') *(?:\n|$)"
)


def split_front_matter(source: str, problems: list[Problem] | None = None) -> tuple[dict[str, Any], str]:
    """Split a page into its front matter and its Markdown. All values are text.

    It is YAML between lines of `---`, TOML between lines of `+++`, or a JSON object. Where it is not valid it is read
    entry by entry, and `problems` get what was not understood. Raises ValueError when it is too long, or when it names
    `groups` that cannot be read: then nobody knows who may see the page.

    Aliases can make a nested value far larger than the file, so never walk through one or print it.
    """
    lines = source.replace("\r\n", "\n").split("\n")
    start = lines[0].rstrip()
    ends = _ENDS.get(start, ())
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() in ends), 0) if ends else 0
    if not end:  # a horizontal rule, or front matter in a form that is not read
        delimiter = _DELIMITER.match(source)
        if delimiter and _GROUPS.search(_PARAGRAPH_END.split(source[delimiter.end() :], maxsplit=1)[0]):
            raise ValueError("its `groups` cannot be read, because its front matter does not begin or end as it should")
        return {}, source
    text = "\n".join(lines[1:end])
    if len(text.encode("utf-8", "surrogatepass")) > MAX_FRONT_MATTER:
        raise ValueError("its front matter is larger than 64 KiB")
    problems = [] if problems is None else problems
    load = _load_yaml if start == "---" else partial(_load_toml_or_json, is_toml=start == "+++")
    try:
        front = load(text)
        is_valid = isinstance(front, dict | None)
    except ValueError:
        is_valid = False
        inner = [line.strip() for line in lines[1:end]] if start == "{" else lines[1:end]
        front = _load_entries(inner, load, problems, has_headings=start == "+++")
    fields = _name_fields(front) if isinstance(front, dict) else {}
    if not is_valid and "groups" not in fields and (groups := _GROUPS.search(text)):
        raise ValueError(f"its `groups` cannot be read (line {text.count(chr(10), 0, groups.start()) + 2})")
    if front is not None and not isinstance(front, dict):
        problems.append(Problem(FRONT_MATTER, "is not a list of names and values"))
    return fields, "\n".join(lines[end + 1 :])


def _name_fields(front: dict[str, Any]) -> dict[str, Any]:
    """The front matter, with groups and a language that it has under another name."""
    front = name_groups(front)
    codes = [code for name in _LANGUAGE_FIELDS if isinstance(code := front.get(name), str) and is_language(code)]
    return {**front, "language": codes[0]} if codes and "language" not in front else front


def name_groups(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata, with the groups that they have under another name such as `Groups`, or in Hugo's `params`.

    Hugo ignores the case of names, and editors leave characters that nobody sees. Groups that stand twice and differ
    are unknown.
    """
    params = [value for value in _find_values(meta, "params") if isinstance(value, Mapping)]
    found = [value for place in (meta, *params) for value in _find_values(place, "groups")]
    if not found:
        return dict(meta)
    is_known = len(found) == 1 or all(_is_flat(value) and value == found[0] for value in found)
    return {**meta, "groups": found[0] if is_known else UNKNOWN_GROUPS}


def _find_values(meta: Mapping[str, Any], field: str) -> list[Any]:
    """The values of a field, whose name may have another case and unseen characters."""
    return [value for name, value in meta.items() if isinstance(name, str) and name.strip(_UNSEEN).lower() == field]


def _is_flat(value: Any) -> bool:
    """Whether a value is a text or a list of texts, which can be compared in linear time."""
    return isinstance(value, str) or (isinstance(value, list) and all(map(_is_single, value)))


def get_text(meta: dict[str, Any], name: str) -> str | None:
    """A field as text; None if it is missing. Raises ValueError for a nested value."""
    value = meta.get(name)
    if value is None or value == "":
        return None
    if not _is_single(value):
        raise ValueError(f"its `{name}` is not text")
    return str(value).strip()


def get_words(meta: dict[str, Any], name: str) -> tuple[str, ...]:
    """A field as words of at most 100 characters, from a list or a text with commas."""
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
    return tuple(word for word in words if word)


def get_groups(meta: dict[str, Any]) -> tuple[str, ...] | None:
    """The groups of readers that the page names, from a list or a text with commas; None if it says nothing of them."""
    value = meta.get("groups")
    if value is None or value == "":
        return None
    if value is UNKNOWN_GROUPS:
        raise ValueError("the `groups` that it or its section names cannot be read, or differ")
    if isinstance(value, str):
        value = [name for name in value.split(",") if name.strip()]
    if not isinstance(value, list) or not all(map(_is_single, value)):
        raise ValueError("its `groups` are not a list of names")
    try:
        return normalize_groups([str(name) for name in value])
    except ValueError as wrong:
        raise ValueError(f"its `groups` field {wrong}") from None


def collect_fields(meta: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """The fields of `Page` that the metadata name. `problems` get those with a wrong value.

    Groups are missing where the page names none, so that its digest stays what it was. Raises ValueError when they are
    wrong.
    """

    def accept(get: Callable[[dict[str, Any], str], Any], name: str) -> Any:
        try:
            return get(meta, name)
        except ValueError as wrong:
            problems.append(Problem(FRONT_MATTER, str(wrong).removeprefix("its ")))
            return get({}, name)

    fields: dict[str, Any] = {key: words for key in FIELDS if (words := accept(get_text, key)) is not None}
    fields["tags"] = tuple(dict.fromkeys(accept(get_words, "tags") + accept(get_words, "tag")))
    fields["keywords"] = accept(get_words, "keywords")
    for name in ("tags", "keywords"):
        if len(fields[name]) > MAX_WORDS:
            problems.append(Problem(FRONT_MATTER, f"has {len(fields[name])} {name}, of which {MAX_WORDS} are read"))
            fields[name] = fields[name][:MAX_WORDS]
    fields["boost"] = accept(get_boost, "boost")
    groups = get_groups(meta)
    return fields if groups is None else {**fields, "groups": groups}


def get_boost(meta: dict[str, Any], name: str = "boost") -> float:
    """The page's boost, or `boost` in `search`. A value that is no number belongs to another tool and is ignored."""
    search = meta.get("search")
    value = meta.get(name) or (search.get("boost") if isinstance(search, dict) else None)
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
    if isinstance(search, dict) and is_set(search.get("exclude")):
        return ExcludedPage(origin, "its front matter says `search: {exclude: true}`")
    for name, value in meta.items():
        excluding = _EXCLUDING_VALUES.get(_JOINTS.sub("", name).lower())
        if excluding and isinstance(value, str) and value.lower() in excluding:
            return ExcludedPage(origin, f"its front matter says `{name}: {value.lower()}`")
    if any("noindex" in robots.lower() for robots in _find_robots(meta)):
        return ExcludedPage(origin, "its front matter says `noindex` to robots")
    return None


def is_set(value: Any) -> bool:
    """Whether a flag is true."""
    return isinstance(value, str) and value.lower() in ("true", "yes", "on")


def _find_robots(meta: dict[str, Any]) -> Iterator[str]:
    """Yield what the page tells robots: in `robots`, or in `head` as VitePress and Starlight have it."""
    head = meta.get("head")
    elements = [element for element in head[:MAX_HEAD] if element] if isinstance(head, list) else []
    found = [element[-1] if isinstance(element, list) else element for element in elements]
    attributes = [element.get("attrs", element) for element in found if isinstance(element, dict)]
    robots = [one.get("content") for one in attributes if isinstance(one, dict) and one.get("name") == "robots"]
    yield from (value for value in (meta.get("robots"), *robots) if isinstance(value, str))


def get_former_paths(meta: dict[str, Any]) -> Iterator[str]:
    """Yield former paths of the page. Aliases without a slash are names, as in Obsidian, and are ignored."""
    for name in _FORMER_PATH_FIELDS:
        value = meta.get(name)
        for path in (value if isinstance(value, list) else [value])[:MAX_WORDS]:
            if isinstance(path, str) and "/" in path and "://" not in path and not path.startswith("//"):
                yield path.strip()


def _load_toml_or_json(text: str, *, is_toml: bool) -> Any:
    """Load TOML, or the inside of a JSON object."""
    try:
        return to_text(tomllib.loads(text) if is_toml else json.loads(f"{{{text.strip().removesuffix(',')}}}"))
    except (ValueError, RecursionError):
        raise ValueError(f"is not {'TOML' if is_toml else 'JSON'}") from None


def to_text(value: Any) -> Any:
    """The value with text instead of numbers, days and flags, as in YAML."""
    if value is UNKNOWN_GROUPS:
        return value
    if isinstance(value, dict):
        return {name: to_text(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [to_text(inner) for inner in value]
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
    except (yaml.YAMLError, ValueError, RecursionError):
        raise ValueError("is not YAML") from None


def _load_entries(
    lines: list[str], load: Callable[[str], Any], problems: list[Problem], *, has_headings: bool
) -> dict[str, Any]:
    """Load each entry by itself: its line with those below that continue it. A heading of TOML ends the page's entries.

    An invalid entry is text where that is plain to see, as in `title: @acme: why`.
    """
    firsts = (bool(_ENTRY.match(line)) or (has_headings and line.startswith("[")) for line in lines)
    starts = [number for number, is_first in enumerate(firsts) if is_first][:MAX_ENTRIES]
    starts = starts if starts[:1] == [0] else [0, *starts]
    front: dict[str, Any] = {}
    for number, following in zip(starts, [*starts[1:], len(lines)], strict=True):
        entry = "\n".join(lines[number:following]).rstrip()
        try:
            loaded = load(entry.expandtabs(4))
            if not isinstance(loaded, dict | None):
                raise ValueError("is no name with a value")
            front.update(loaded or {})
        except ValueError as wrong:
            if _GROUPS.search(entry):
                raise ValueError(f"its `groups` cannot be read (line {number + 2})") from None
            problems.append(Problem(FRONT_MATTER, f"line {number + 2} {wrong}: {lines[number].strip()[:100]}"))
            if named := _ENTRY.match(entry):
                value = entry[named.end() :] if not _NESTED.search(entry) else lines[number][named.end() :]
                front |= _read_as_text(named[1], value)
        if has_headings and entry.startswith("["):
            break
    return front


def _read_as_text(name: str, value: str) -> dict[str, str]:
    first = value.split("\n")[0].strip()
    is_quoted = len(first) > 1 and first[0] == first[-1] and first[0] in "\"'"
    text = first[1:-1] if is_quoted else " ".join(value.split())
    return {name: text} if text and text[0] not in "[{|>" else {}


def _is_single(value: Any) -> bool:
    return isinstance(value, str | int | float)
