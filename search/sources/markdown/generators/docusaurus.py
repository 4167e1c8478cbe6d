"""Docusaurus: versions, translations, and the plain settings of `docusaurus.config.*`, which is not executed."""

import re
from collections.abc import Iterator
from pathlib import Path

from search.sources.files import resolve_links
from search.sources.markdown import configuration, javascript
from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import Meta, Site, Tree, as_mapping, remove_ending
from search.sources.request import SourceRequest
from search.text.markdown.plain_text import slug
from search.text.markdown.reader import fenced_lines

_CONFIGS = javascript.list_names("docusaurus.config")
_ROUTE_BASE = re.compile(r"\bdocs\s*:\s*\{[^{}]{0,2000}?\brouteBasePath\s*:\s*[\"'`]([^\"'`\n]*)")
_LAST_IS_CURRENT = re.compile(r"\blastVersion\s*:\s*[\"'`]current[\"'`]")
_NUMBER_PREFIX = re.compile(r"\d+\s*[-_.]+\s*(?=[^-_.\s])")
_TAGGED = re.compile(r"#{1,6}[ \t][^<\n]*<[A-Za-z/>]")
_TAG = re.compile(r"`[^`\n]*`|</?[A-Za-z][^<>\n]*>|</?>")
_DATE_OR_VERSION = re.compile(r"\d+[-_.]\d+")
MAX_VERSIONS = 200
_PLUGIN = "docusaurus-plugin-content-docs"


def detect_site(root: Path, request: SourceRequest, is_requested: bool) -> Site | None:
    """The site, if its configuration is in the folder, in `website` or `docs`, or if the folder is its `docs`."""
    for folder, file in configuration.find((root, root / "website", root / "docs", root.parent), _CONFIGS):
        is_above = folder == root.parent
        if root.name == "docs" or not is_above:
            config = javascript.remove_comments(configuration.read_text(folder if is_above else root, file))
            docs = root if is_above else next(
                (candidate for candidate in (folder / "docs", folder.parent / "docs") if candidate.is_dir()), None
            )  # fmt: skip
            if docs and resolve_links(docs).is_relative_to(resolve_links(root)):
                return _build_site(config, root, folder, docs, request)
    return _build_site("", root, root, root, request) if is_requested else None


def _build_site(config: str, root: Path, folder: Path, docs: Path, request: SourceRequest) -> Site:
    base = _ROUTE_BASE.search(config)
    route = configuration.remove_known_base(base[1] if base else "docs", request)
    slash = javascript.find_flag(config, "trailingSlash")
    file_format = javascript.find_text(javascript.find_object(config, "markdown"), "format")

    def address(name: str, front: Meta) -> str:
        path = _make_address(name, front)
        return path if slash is None or not path else path.rstrip("/") + ("/" if slash else "")

    return Site(
        "docusaurus",
        tuple(_find_trees(config, folder, docs, route)),
        address,
        lambda name: not any(part.startswith("_") for part in name.split("/")),
        None,  # its anchors are GitHub's
        Includes("mdx", root, (folder,)),
        rewrite=_add_anchors,
        is_mdx=lambda front: (as_mapping(front.get("mdx")).get("format") or file_format) not in ("md", "detect"),
    )


def _add_anchors(body: str) -> str:
    """The page, where a heading with a tag has the anchor of the site: without the tag, with the blanks around it."""
    lines = body.split("\n")
    tagged = [number for number, line in enumerate(lines) if _TAGGED.match(line) and "{#" not in line]
    code = fenced_lines(body, is_mdx=True) if tagged else ()
    for number in tagged:
        if number not in code:
            text = _TAG.sub(lambda found: found[0] if found[0][0] == "`" else "", lines[number].lstrip("#").strip())
            lines[number] += f" {{#{slug(text.replace(' ', '-'))}}}"
    return "\n".join(lines)


def _find_trees(config: str, folder: Path, docs: Path, route: str) -> Iterator[Tree]:
    """Yield the documentation, its older versions and its translations."""
    versions = _read_versions(folder) if docs != folder and docs.parent == folder else []
    newest = "current" if not versions or _LAST_IS_CURRENT.search(config) else versions[0]
    default_language = javascript.find_text(config, "defaultLocale")
    translations = sorted((folder / "i18n").glob(f"*/{_PLUGIN}")) if docs != folder else []
    for plugin_folder in (folder / "versioned_docs", *translations):
        language = plugin_folder.parent.name if plugin_folder in translations else ""
        for name in ("current", *versions):
            segment = "" if name == newest else "next" if name == "current" else name
            versioned = plugin_folder / ("current" if name == "current" else f"version-{name}")
            version = "" if name == "current" else name
            tree = versioned if version or language else docs
            yield Tree(tree, _join_path(language, route, segment), version, language or default_language)


def _read_versions(folder: Path) -> list[str]:
    """The names of the older versions, the newest first. Raises ValueError when the file cannot be read."""
    file = folder / "versions.json"
    versions = configuration.load(folder, file) if file.is_file() else []
    names = (
        [name for name in versions if isinstance(name, str) and "/" not in name] if isinstance(versions, list) else []
    )
    return list(dict.fromkeys(names))[:MAX_VERSIONS]


def _join_path(*parts: str) -> str:
    return "/".join(part for part in parts if part)


def _make_address(name: str, front: Meta) -> str:
    """A page's address below the documentation's route: its `slug`, or its folders and its `id` or name."""
    *folders, last = remove_ending(name).split("/")
    folder_names = [_remove_number(folder) for folder in folders]
    slug = front.get("slug")
    if isinstance(slug, str) and slug:
        parts = [part for part in slug.split("/") if part != "."]
        return _join_path(*(() if slug.startswith("/") else folder_names), *parts)
    page_id = front.get("id")
    if last.lower() in ("index", "readme", *(folder.lower() for folder in folders[-1:])):
        return _join_path(*folder_names) + "/" if folder_names else ""
    if isinstance(page_id, str) and page_id:
        return _join_path(*folder_names, page_id)
    return _join_path(*folder_names, _remove_number(last))


def _remove_number(name: str) -> str:
    prefix = None if _DATE_OR_VERSION.match(name) else _NUMBER_PREFIX.match(name)
    return name[prefix.end() :] if prefix else name
