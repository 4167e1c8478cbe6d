"""Docusaurus: versions, translations, and the plain settings of `docusaurus.config.*`, which is not executed."""

import re
from collections.abc import Iterator
from pathlib import Path

from search.sources.markdown import configuration, javascript
from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import Meta, Site, Tree, as_mapping, remove_ending
from search.sources.request import SourceRequest
from search.text.markdown.plain_text import slug
from search.text.markdown.reader import fenced_lines

_CONFIGS = javascript.list_names("docusaurus.config")
_THEME = re.compile(r"\b(?:versionPersistence|sidebar)\s*:")  # in `docs` of the theme
_NUMBER_PREFIX = re.compile(r"\d+\s*[-_.]+\s*(?=[^-_.\s])")
_TAGGED = re.compile(r"#{1,6}[ \t][^<\n]*<[A-Za-z/>]")
_TAG = re.compile(r"`[^`\n]*`|</?[A-Za-z][^<>\n]*>|</?>")
_DATE_OR_VERSION = re.compile(r"\d+[-_.]\d+")
_PLUGIN = "docusaurus-plugin-content-docs"


def detect_site(root: Path, folder: Path | None, request: SourceRequest) -> Site | None:
    """The site, if its configuration is in the folder, which may be above the folder of pages that is read."""
    if folder is None:
        return _build_site("", (Tree(root, configuration.remove_known_base("docs", request)),), root, root)
    if not (file := configuration.find(folder, _CONFIGS)):
        return None
    config = javascript.remove_comments(configuration.read_text(folder if folder == root.parent else root, file))
    trees = tuple(_find_trees(config, root, folder, request))
    return _build_site(config, trees, root, folder) if trees else None


def _build_site(config: str, trees: tuple[Tree, ...], root: Path, folder: Path) -> Site:
    slash = javascript.find_flag(config, "trailingSlash")
    file_format = javascript.find_text(javascript.find_object(config, "markdown"), "format")

    def address(name: str, front: Meta) -> str:
        path = _make_address(name, front)
        return path if slash is None or not path else path.rstrip("/") + ("/" if slash else "")

    return Site(
        "docusaurus",
        trees,
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


def _find_plugins(config: str) -> Iterator[tuple[str, str]]:
    """Yield the id and the options of each plug-in that publishes documentation. The preset's id is empty."""
    presets = [options for options in javascript.find_objects(config, r"docs\s*:") if not _THEME.search(options)]
    if presets or not re.search(r"\bdocs\s*:\s*false\b", config):
        yield "", presets[0] if presets else ""
    for options in javascript.find_objects(config, r"content-docs[\"'`]\s*,"):
        if name := javascript.find_text(options, "id"):
            yield name, options


def _find_trees(config: str, root: Path, folder: Path, request: SourceRequest) -> Iterator[Tree]:
    """Yield the documentation of each plug-in, with the older versions and translations that the site publishes."""
    default_language = javascript.find_text(config, "defaultLocale")
    locales = javascript.find_list(config, "locales")
    for name, options in _find_plugins(config):
        by_version = javascript.find_object(options, "versions")
        own = options.replace(by_version, "")
        versions = [] if javascript.find_flag(own, "disableVersioning") else _read_versions(folder, name)
        newest = javascript.find_text(own, "lastVersion") or next(iter(versions), "current")
        if javascript.find_flag(own, "includeCurrentVersion") is not False:
            versions.insert(0, "current")
        only = javascript.find_list(own, "onlyIncludeVersions") or versions
        settings = javascript.find_entries(by_version)
        route = javascript.find_text(own, "routeBasePath") if "routeBasePath" in own else "docs"
        route = configuration.remove_known_base(route, request)
        paths = filter(None, (javascript.find_text(own, "path"), name, "docs", "../docs"))
        docs = next((place for path in paths if (place := configuration.find_inner_folder(root, folder / path))), None)
        translations = sorted((folder / "i18n").glob(f"*/{'-'.join(filter(None, (_PLUGIN, name)))}"))
        for place in (None, *translations):
            language = place.parent.name if place else ""
            if place and (language == default_language or (locales and language not in locales)):
                continue
            for version in (version for version in versions if version in only):
                segment = "" if version == newest else "next" if version == "current" else version
                segment = javascript.find_text(settings.get(version, ""), "path").strip("/") or segment
                inner = "current" if version == "current" else f"version-{version}"
                old = folder / "_".join(filter(None, (name, "versioned_docs"))) / inner
                tree = configuration.find_inner_folder(root, place / inner if place else old)
                if tree := docs if version == "current" and not place else tree:
                    base = "/".join(filter(None, (language, route, segment)))
                    named = version if version != "current" else "next" if newest != "current" else ""
                    yield Tree(tree, base, named, language or default_language)


def _read_versions(folder: Path, name: str) -> list[str]:
    """The names of a plug-in's older versions, the newest first. Raises ValueError when the file cannot be read."""
    file = folder / "_".join(filter(None, (name, "versions.json")))
    versions = configuration.load(folder, file) if file.is_file() else []
    names = [one for one in versions if isinstance(one, str) and "/" not in one] if isinstance(versions, list) else []
    return list(dict.fromkeys(names))


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
