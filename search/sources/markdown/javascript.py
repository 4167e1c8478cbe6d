"""Read the plain settings of a JavaScript or TypeScript configuration, which is never executed."""

import re
from itertools import islice

MAX_OBJECTS = 100
MAX_NESTED = 20  # objects inside each other
MAX_OBJECT = 20_000  # characters
_ENDINGS = ("ts", "mts", "js", "mjs", "cjs", "cts")
_LINE_COMMENT = re.compile(r"(?m)^[^\S\n]*+//.*$")
_PAIR = re.compile(r"([\"'`])([^\"'`\n]+)\1\s*:\s*([\"'`])([^\"'`\n]*)\3")
_ENTRY = re.compile(r"(?<![\w.-])[\"'`]?([\w.-]++)[\"'`]?\s*+:\s*\{")
_IMPORT = re.compile(r"\bimport\s+(\w+|\{[^{}]{0,500}\})\s+from\s+([\"'])(\.\.?/[^\"'\n]{1,200})\2")
_EXPORT = re.compile(r"\b(?:export\s++default\b|module\.exports\s*+=)\s*+(?:\w++\s*+\(\s*+)?\{")
_OBJECT = re.compile(r"\{[^{}]*+\}")  # that holds no other
_QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\.)*`?|[{}]")


def list_names(name: str) -> tuple[str, ...]:
    """The names that a configuration may have, such as `astro.config.mjs`."""
    return tuple(f"{name}.{ending}" for ending in _ENDINGS)


def remove_comments(text: str) -> str:
    """The configuration without comments that fill lines: `// …`, and `/* … */` at the margin."""
    kept, at = [], 0
    while (start := text.find("\n/*", at)) >= 0 and (end := text.find("*/", start)) >= 0:
        kept.append(text[at:start])
        at = end + 2
    return _LINE_COMMENT.sub("", "".join([*kept, text[at:]]))


def find_text(text: str, name: str) -> str:
    """The value of the first setting with this name whose value is a quoted text. Empty if there is none."""
    found = re.search(rf"\b{name}[\"']?\s*:\s*([\"'`])([^\"'`\n$]*)\1", text)
    return found[2] if found else ""


def find_own_text(text: str, name: str) -> str:
    """A quoted value in the exported object, not in one inside it; the first of that name where a name is exported."""
    exported = _EXPORT.search(text)
    if not exported:
        return find_text(text, name)
    text = text[exported.end() :]
    for _ in range(MAX_NESTED):
        text = _OBJECT.sub("", text)
    return find_text(text, name)


def find_flag(text: str, name: str) -> bool | None:
    """The value of the first setting with this name that is on or off; None if there is none."""
    found = re.search(rf"\b{name}\s*:\s*(true|false)\b", text)
    return found[1] == "true" if found else None


def find_object(text: str, name: str) -> str:
    """What stands in the braces of the first object of that name, as in `name: {…}` or `name = {…}`; empty without.

    `name: other` leads to `other = {…}`.
    """
    found = re.search(rf"\b{name}\s*[:=]\s*\{{", text)
    if not found and (other := re.search(rf"\b{name}\s*:\s*(\w+)\s*[,}}\n]", text)):
        found = re.search(rf"\b{other[1]}\s*=\s*\{{", text)
    return _find_inner(text, found.end()) if found else ""


def find_imports(text: str) -> dict[str, list[str]]:
    """The names that a script imports, by the relative paths of the files.

    >>> find_imports("import { a, b as c } from './x.js'; import d from '../y'")
    {'./x.js': ['a', 'b'], '../y': ['d']}
    """
    return {path: re.findall(r"(\w+)(?:\s+as\s+\w+)?", names) for names, _, path in _IMPORT.findall(text)}


def find_pairs(text: str, name: str) -> dict[str, str]:
    """The plain entries of an object: `{"a": "b"}`."""
    return {pair[2]: pair[4] for pair in _PAIR.finditer(find_object(text, name))}


def find_languages(text: str) -> dict[str, str]:
    """The languages in `locales`, by their folders; the folder of `root` is empty, as that of the site's `lang`.

    >>> find_languages("locales: { root: { lang: 'en' }, 'zh-cn': { label: 'x', lang: 'zh-CN' } }")
    {'': 'en', 'zh-cn': 'zh-CN'}
    """
    inner = find_object(text, "locales")
    language = find_text(text.replace(inner, ""), "lang") if inner else find_text(text, "lang")
    languages = {"": language} if language else {}
    for name, settings in find_entries(inner).items():
        folder = "" if name == "root" else name
        if language := find_text(settings, "lang") or folder:
            languages[folder] = language
    return languages


def find_entries(inner: str) -> dict[str, str]:
    """The objects in an object, by their names."""
    entries: dict[str, str] = {}
    at = 0
    while found := _ENTRY.search(inner, at):
        entries[found[1]] = _find_inner(inner, found.end())
        at = found.end() + len(entries[found[1]])
    return entries


def find_objects(text: str, before: str) -> list[str]:
    """The text between the braces of each object literal that directly follows a match of the pattern."""
    found = re.finditer(rf"\b{before}\s*(?:/\*.{{0,200}}?\*/\s*)?\(?\{{", text)
    return [_find_inner(text, match.end()) for match in islice(found, MAX_OBJECTS)]


def find_list(text: str, name: str) -> list[str]:
    """The quoted texts in the first list of that name."""
    found = re.search(rf"\b{name}\s*:\s*\[([^\]]{{0,2000}})\]", text)
    return re.findall(r"[\"'`]([^\"'`\n]+)[\"'`]", found[1]) if found else []


def _find_inner(text: str, start: int) -> str:
    """The text up to the brace that closes the one before `start`; what follows in at most MAX_OBJECT characters."""
    depth = 1
    for mark in _QUOTED.finditer(text, start, start + MAX_OBJECT):
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if not depth:
            return text[start : mark.start()]
    return text[start : start + MAX_OBJECT]
