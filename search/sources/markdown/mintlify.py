"""Mintlify: `docs.json` (once `mint.json`), whose navigation knows languages and versions."""

import os
import re
from collections import ChainMap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from docsite.core.paths import normalize
from search.sources import PageRedirect
from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import Meta, Site, Tree, ignore_rule, read_config, read_json, stem
from search.sources.markdown.slugs import MINTLIFY
from search.sources.request import SourceRequest

_FILES = ("docs.json", "mint.json")
_BELOW = ("languages", "versions", "products", "dropdowns", "tabs", "anchors", "menu", "groups", "pages")
_WILDCARD = re.compile(r"[:*()$]")
MAX_DEPTH = 30
MAX_ENTRIES = 50_000
MAX_NAME = 1000


class _Entry(NamedTuple):
    """A part of the navigation with what the parts above it say."""

    value: Any
    version: str
    language: str
    hidden: bool
    depth: int


def site(root: Path, request: SourceRequest, named: bool) -> Site | None:
    """The site whose configuration lies in the folder or in its `docs`."""
    for folder in (root, root / "docs"):
        file = next((folder / name for name in _FILES if (folder / name).is_file()), None)
        config = _read(root, file) if file else None
        if config is not None and (named or "navigation" in config):  # another tool's docs.json has none
            return _site(config, root, folder, request)
    return _site({}, root, root, request) if named else None


def _site(config: Meta, root: Path, folder: Path, request: SourceRequest) -> Site:
    ignored = folder / ".mintignore"
    unseen = ignore_rule("snippets/\n" + (read_config(root, ignored) if ignored.is_file() else ""))
    return Site(
        "mintlify",
        (Tree(folder),),
        lambda name, front: None,
        lambda name: not unseen(name),
        MINTLIFY,
        Includes("mdx", root, (folder,)),
        dict(_pages(config.get("navigation"), root, folder)),
        tuple(_redirects(config.get("redirects"), request)),
    )


def _read(root: Path, file: Path) -> dict[str, Any]:
    config = read_json(root, file)
    if not isinstance(config, dict):
        raise ValueError(f"{file.name} is not an object")
    return config


def _pages(navigation: Any, root: Path, folder: Path) -> Iterator[tuple[str, Meta]]:
    """The pages of the navigation: language and version as it spells them, and whether it hides them."""
    waiting = [_Entry(navigation, "", "", False, 0)]
    files: dict[str, dict[str, Any]] = {}
    for _ in range(MAX_ENTRIES):
        if not waiting or len(waiting) > MAX_ENTRIES:
            return
        value, version, language, hidden, depth = waiting.pop()
        if isinstance(value, str) and not re.search(r"\s|://", value):  # `GET /users` is an operation
            note = {"version": version, "language": language, "hidden": "true" if hidden else ""}
            yield stem(value.strip("/")), {name: given for name, given in note.items() if given}
        elif isinstance(value, list) and depth < MAX_DEPTH:
            waiting += [_Entry(item, version, language, hidden, depth + 1) for item in reversed(value)]
        elif isinstance(value, dict) and depth < MAX_DEPTH:
            value = _resolve_reference(value, root, folder, files)
            version, language = _name(value, "version") or version, _name(value, "language") or language
            hidden = (hidden or value.get("hidden") is True) and value.get("searchable") is not True
            below = [value[name] for name in (*_BELOW, "root") if isinstance(value.get(name), list | str)]
            waiting += [_Entry(item, version, language, hidden, depth + 1) for item in reversed(below)]


def _resolve_reference(value: dict[str, Any], root: Path, folder: Path, files: dict[str, dict[str, Any]]) -> Meta:
    """The object itself, or with that of the file which `$ref` names; `files` has those that were read."""
    name = _name(value, "$ref")
    if not name.endswith(".json"):
        return value
    place = os.path.normpath(folder / name.lstrip("/"))
    if place not in files:
        is_there = os.path.isfile(place)  # noqa: PTH113  # a path's own method raises for a name that is too long
        files[place] = _read(root, Path(place)) if is_there else {}
    return ChainMap(value, files[place])  # no copy: many may refer to a large file


def _name(value: Meta, key: str) -> str:
    return given[:MAX_NAME].strip() if isinstance(given := value.get(key), str) else ""


def _redirects(value: Any, request: SourceRequest) -> Iterator[PageRedirect]:
    """Redirects from one page to another; patterns and other sites are passed over."""
    for entry in value if isinstance(value, list) else ():
        if not isinstance(entry, dict):
            continue
        source, target = _name(entry, "source"), _name(entry, "destination")
        if source and target and not _WILDCARD.search(source + target):
            yield PageRedirect(request.path_of(normalize(source)), request.path_of(normalize(target)))
