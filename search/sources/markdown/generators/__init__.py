"""The registry of generators that render folders of Markdown, and how one is chosen."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

from search.sources.files import MARKDOWN, list_files
from search.sources.markdown import configuration
from search.sources.markdown.generators import (
    docusaurus,
    hugo,
    jekyll,
    mdbook,
    mintlify,
    mkdocs,
    nextra,
    starlight,
    vitepress,
)
from search.sources.markdown.sites import Site, Tree, remove_ending
from search.sources.request import SourceRequest

# The functions return the site, if a folder in the root, or above it, has its configuration. Without a folder, they
# return the site that the generator renders from the root without a configuration.
GENERATORS: dict[str, Callable[[Path, Path | None, SourceRequest], Site | None]] = {
    module.__name__.rpartition(".")[2]: module.detect_site
    for module in (mkdocs, mintlify, docusaurus, vitepress, starlight, nextra, hugo, mdbook, jekyll)
}
_ABOVE = ("mkdocs", "docusaurus")  # their pages may be read without the folder above that has the configuration
_USUAL = ("", "docs", "website", "site", "www", "web", "documentation", "book", "guide", "doc", "exampleSite")
_UNUSUAL = re.compile(
    r"(?i)[._]|(?:node_modules|vendor|.*\b(?:examples?|tests?|fixtures?|templates?|playgrounds?|demos?|e2e))$"
)
_NUMBER = re.compile(r"(?<![^/])\d+-")
MAX_DEPTH = 3  # of folders, below the one that is read


def detect_site(root: Path, request: SourceRequest) -> Site:
    """The site that a generator renders from a folder, which may be a repository or only its documentation.

    The request names the generator, or else it is the first one with a configuration in the folder or in a usual folder
    of it. Elsewhere a configuration counts if most Markdown files are below it. Raises ValueError when a configuration
    cannot be read.
    """
    if request.generator and request.generator not in GENERATORS:
        return _build_plain(root)
    names = (request.generator,) if request.generator else tuple(GENERATORS)
    for name in names:
        for folder in (*(root / usual for usual in _USUAL), *([root.parent] if name in _ABOVE else [])):
            if site := GENERATORS[name](root, folder, request):
                return site
    count_pages = cache(partial(_count_pages, root))  # a repository may have many configurations
    for folder in _list_inner_folders(root):
        for name in names:
            with suppress(ValueError):  # it may be that of a test
                if (site := GENERATORS[name](root, folder, request)) and _has_most_pages(site, count_pages):
                    return site
    site = GENERATORS[request.generator](root, None, request) if request.generator else None
    return site or _build_plain(root)


def _build_plain(root: Path) -> Site:
    """The files where they lie. On sites of SvelteKit, numbers before their names give their order."""
    is_numbered = configuration.depends_on(root, root, "@sveltejs/kit")
    return Site("plain", (Tree(root),), lambda name, _: _NUMBER.sub("", remove_ending(name)) if is_numbered else None)


def _list_inner_folders(root: Path) -> list[Path]:
    """The folders below a repository that may have a configuration, those that are named after documentation first."""
    found = []
    for current, folders, _ in os.walk(root):
        depth = len(Path(current).relative_to(root).parts)
        folders[:] = [name for name in folders if depth < MAX_DEPTH and not _UNUSUAL.match(name)]
        found += [Path(current, name) for name in folders]
    return sorted(found, key=lambda folder: (not re.search("doc|site|web|book", folder.name), folder.parts))


def _has_most_pages(site: Site, count_all: Callable[[], int]) -> bool:
    inner = {tree.folder / name for tree in site.trees for name in list_files(tree.folder) if name.endswith(MARKDOWN)}
    return 2 * len(inner) > count_all()


def _count_pages(folder: Path) -> int:
    return sum(name.endswith(MARKDOWN) for name in list_files(folder))
