"""Mintlify: `docs.json` (formerly `mint.json`), whose navigation has languages and versions."""

import os
import re
from collections import ChainMap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from docsite.core.paths import normalize
from search.sources import PageRedirect
from search.sources.markdown import configuration
from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import Meta, Site, Tree, compile_ignore_rules, remove_ending
from search.sources.markdown.slugs import MINTLIFY
from search.sources.request import SourceRequest

_CONFIG_FILES = ("docs.json", "mint.json")
_CHILD_FIELDS = ("languages", "versions", "products", "dropdowns", "tabs", "anchors", "menu", "groups", "pages")
_WILDCARD = re.compile(r"[:*()$]")
MAX_DEPTH = 30
MAX_ENTRIES = 50_000
MAX_NAME = 1000


class _Entry(NamedTuple):
    """A part of the navigation, with the settings that it inherits."""

    value: Any
    version: str
    language: str
    hidden: bool
    depth: int


def detect_site(root: Path, folder: Path | None, request: SourceRequest) -> Site | None:
    """The site, if its configuration is in the folder."""
    if folder is None:
        return _build_site({}, root, root, request)
    file = configuration.find(folder, _CONFIG_FILES)
    config = _read_config_object(root, file) if file else {}
    is_site = file and (request.generator or "navigation" in config)  # other tools have a docs.json without it
    return _build_site(config, root, folder, request) if is_site else None


def _build_site(config: Meta, root: Path, folder: Path, request: SourceRequest) -> Site:
    ignore_file = folder / ".mintignore"
    is_ignored = compile_ignore_rules(
        "snippets/\n" + (configuration.read_text(root, ignore_file) if ignore_file.is_file() else "")
    )
    pages = dict(_walk_navigation(config.get("navigation"), root, folder))
    seo = config.get("seo")
    indexes_all = not pages or (isinstance(seo, dict) and seo.get("indexing") == "all")

    def find_exclusion(name: str, meta: Meta) -> str:
        is_found = indexes_all or remove_ending(name) in pages or str(meta.get("searchable")).lower() == "true"
        return "" if is_found else "is not in the navigation, so its site does not search it"

    return Site(
        "mintlify",
        (Tree(folder),),
        lambda name, front: None,
        lambda name: not is_ignored(name),
        MINTLIFY,
        Includes("mdx", root, (folder,)),
        pages,
        tuple(_read_redirects(config.get("redirects"), request)),
        find_exclusion=find_exclusion,
    )


def _read_config_object(root: Path, file: Path) -> dict[str, Any]:
    config = configuration.load(root, file)
    if not isinstance(config, dict):
        raise ValueError(f"{file.name} is not an object")
    return config


def _walk_navigation(navigation: Any, root: Path, folder: Path) -> Iterator[tuple[str, Meta]]:
    """Yield each page of the navigation with its language, its version, and whether it is hidden."""
    stack = [_Entry(navigation, "", "", False, 0)]
    files: dict[str, dict[str, Any]] = {}
    for _ in range(MAX_ENTRIES):
        if not stack or len(stack) > MAX_ENTRIES:
            return
        value, version, language, hidden, depth = stack.pop()
        if isinstance(value, str) and not re.search(r"\s|://", value):  # `GET /users` is an operation
            metadata = {"version": version, "language": language, "hidden": "true" if hidden else ""}
            yield remove_ending(value.strip("/")), {name: text for name, text in metadata.items() if text}
        elif isinstance(value, list) and depth < MAX_DEPTH:
            stack += [_Entry(item, version, language, hidden, depth + 1) for item in reversed(value)]
        elif isinstance(value, dict) and depth < MAX_DEPTH:
            value = _resolve_reference(value, root, folder, files)
            version, language = _get_name(value, "version") or version, _get_name(value, "language") or language
            hidden = (hidden or value.get("hidden") is True) and value.get("searchable") is not True
            children = [value[name] for name in (*_CHILD_FIELDS, "root") if isinstance(value.get(name), list | str)]
            stack += [_Entry(item, version, language, hidden, depth + 1) for item in reversed(children)]


def _resolve_reference(value: dict[str, Any], root: Path, folder: Path, files: dict[str, dict[str, Any]]) -> Meta:
    """The object, merged with the file that its `$ref` names. `files` caches loaded files by path."""
    name = _get_name(value, "$ref")
    if not name.endswith(".json"):
        return value
    path = os.path.normpath(folder / name.lstrip("/"))
    if path not in files:
        exists = os.path.isfile(path)  # noqa: PTH113  # a path's own method raises for a name that is too long
        files[path] = _read_config_object(root, Path(path)) if exists else {}
    return ChainMap(value, files[path])  # no copy, because many objects may refer to a large file


def _get_name(value: Meta, key: str) -> str:
    return name[:MAX_NAME].strip() if isinstance(name := value.get(key), str) else ""


def _read_redirects(value: Any, request: SourceRequest) -> Iterator[PageRedirect]:
    """Yield redirects from page to page. Patterns are ignored."""
    for entry in value if isinstance(value, list) else ():
        if not isinstance(entry, dict):
            continue
        source, target = _get_name(entry, "source"), _get_name(entry, "destination")
        if source and target and not _WILDCARD.search(source + target):
            yield PageRedirect(request.path_of(normalize(source)), request.path_of(normalize(target)))
