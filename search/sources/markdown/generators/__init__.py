"""The registry of generators that render folders of Markdown, and how one is chosen."""

from collections.abc import Callable
from pathlib import Path

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
from search.sources.markdown.sites import Site, Tree
from search.sources.request import SourceRequest

GENERATORS: dict[str, Callable[[Path, SourceRequest, bool], Site | None]] = {
    module.__name__.rpartition(".")[2]: module.detect_site
    for module in (mkdocs, mintlify, docusaurus, vitepress, starlight, nextra, hugo, mdbook, jekyll)
}


def detect_site(root: Path, request: SourceRequest) -> Site:
    """The site that a generator renders from a folder, which may be a repository or only its documentation.

    The request names the generator, or else it is the first one with a configuration in the folder. Raises ValueError
    when a configuration cannot be read.
    """
    is_requested = request.generator in GENERATORS
    for name in (request.generator,) if is_requested else () if request.generator else GENERATORS:
        if site := GENERATORS[name](root, request, is_requested):
            return site
    return Site("plain", (Tree(root),), lambda name, front: None)
