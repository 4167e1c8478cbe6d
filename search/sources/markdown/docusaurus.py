"""Docusaurus: the plain settings of `docusaurus.config.*`, which is a program and is not run, and its versions."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import Meta, Site, Tree, read_config, read_json, stem
from search.sources.request import SourceRequest

_CONFIGS = tuple(f"docusaurus.config{ending}" for ending in (".ts", ".js", ".mjs", ".cjs", ".mts"))
_BASE = re.compile(r"\bdocs\s*:\s*\{[^{}]{0,2000}?\brouteBasePath\s*:\s*[\"'`]([^\"'`\n]*)")
_SLASH = re.compile(r"\btrailingSlash\s*:\s*(true|false)\b")
_CURRENT = re.compile(r"\blastVersion\s*:\s*[\"'`]current[\"'`]")
_COMMENT = re.compile(r"(?m)^\s*//.*$")
_NUMBER = re.compile(r"\d+\s*[-_.]+\s*(?=[^-_.\s])")
_NO_NUMBER = re.compile(r"\d+[-_.]\d+")  # a date or a version
MAX_VERSIONS = 200
_PLUGIN = "docusaurus-plugin-content-docs"


def site(root: Path, request: SourceRequest, named: bool) -> Site | None:
    """The site whose configuration lies in the folder, in its `website` or `docs`, or just above its `docs`."""
    for folder in (root, root / "website", root / "docs", root.parent):
        file = next((folder / name for name in _CONFIGS if (folder / name).is_file()), None)
        is_above = folder == root.parent
        if file and (root.name == "docs" or not is_above):
            config = _COMMENT.sub("", read_config(folder if is_above else root, file))
            docs = root if is_above else next(
                (place for place in (folder / "docs", folder.parent / "docs") if place.is_dir()), None
            )  # fmt: skip
            if docs and docs.resolve().is_relative_to(root.resolve()):
                return _site(config, root, folder, docs, request)
    return _site("", root, root, root, request) if named else None


def _site(config: str, root: Path, folder: Path, docs: Path, request: SourceRequest) -> Site:
    base = _BASE.search(config)
    route = base[1].strip("/") if base else "docs"
    if urlsplit(request.docs_url).path.rstrip("/").endswith(f"/{route}"):
        route = ""
    slash = _SLASH.search(config)
    always, never = (slash[1] == "true", slash[1] == "false") if slash else (False, False)

    def address(name: str, front: Meta) -> str:
        place = _place(name, front)
        return f"{place.rstrip('/')}/" if always and place else place.rstrip("/") if never else place

    return Site(
        "docusaurus",
        tuple(_trees(config, folder, docs, route)),
        address,
        lambda name: not any(part.startswith("_") for part in name.split("/")),
        None,  # its anchors are GitHub's
        Includes("mdx", root, (folder,)),
    )


def _trees(config: str, folder: Path, docs: Path, route: str) -> Iterator[Tree]:
    """The documentation, its older versions and its translations, where the folder has them."""
    versions = _versions(folder) if docs != folder and docs.parent == folder else []
    newest = "current" if not versions or _CURRENT.search(config) else versions[0]
    places = [("current", docs), *((name, folder / "versioned_docs" / f"version-{name}") for name in versions)]
    for name, place in places:
        step = "" if name == newest else "next" if name == "current" else name
        yield Tree(place, _join(route, step), "" if name == "current" else name)
    for translated in sorted((folder / "i18n").glob(f"*/{_PLUGIN}")) if docs != folder else ():
        language = translated.parent.name
        for name, _ in places:
            step = "" if name == newest else "next" if name == "current" else name
            version = "" if name == "current" else name
            inner = translated / ("current" if name == "current" else f"version-{name}")
            yield Tree(inner, _join(language, route, step), version, language)


def _versions(folder: Path) -> list[str]:
    """The versions that are kept, the newest first. Raises ValueError when their list is none."""
    file = folder / "versions.json"
    versions = read_json(folder, file) if file.is_file() else []
    named = (
        [name for name in versions if isinstance(name, str) and "/" not in name] if isinstance(versions, list) else []
    )
    return list(dict.fromkeys(named))[:MAX_VERSIONS]


def _join(*parts: str) -> str:
    return "/".join(part for part in parts if part)


def _place(name: str, front: Meta) -> str:
    """Where a page stands below the documentation's route: its `slug`, or its folders and its `id` or name."""
    *folders, last = stem(name).split("/")
    bare = [_without_number(folder) for folder in folders]
    slug = front.get("slug")
    if isinstance(slug, str) and slug:
        return _join(*(() if slug.startswith("/") else bare), *(part for part in slug.split("/") if part != "."))
    given = front.get("id")
    if isinstance(given, str) and given:
        return _join(*bare, given)
    if last.lower() in ("index", "readme", *(folder.lower() for folder in folders[-1:])):
        return _join(*bare) + "/" if bare else ""
    return _join(*bare, _without_number(last))


def _without_number(name: str) -> str:
    return name if _NO_NUMBER.match(name) else _NUMBER.sub("", name, count=1) if _NUMBER.match(name) else name
