"""Which generator renders a folder of Markdown, and so how its pages are called."""

from collections.abc import Callable
from pathlib import Path

from search.sources.markdown import docusaurus, mintlify, mkdocs, vitepress
from search.sources.markdown.sites import Site, Tree
from search.sources.request import SourceRequest

GENERATORS: dict[str, Callable[[Path, SourceRequest, bool], Site | None]] = {
    "mkdocs": mkdocs.site,
    "mintlify": mintlify.site,
    "docusaurus": docusaurus.site,
    "vitepress": vitepress.site,
}


def find(root: Path, request: SourceRequest) -> Site:
    """The site that a folder is the source of: a repository, or just its documentation.

    The generator that the reading names, or else that whose configuration lies there. Raises ValueError when a
    configuration cannot be read.
    """
    named = request.generator in GENERATORS
    for name in (request.generator,) if named else () if request.generator else GENERATORS:
        if site := GENERATORS[name](root, request, named):
            return site
    return Site("plain", (Tree(root),), lambda name, front: None)
