"""The registry of generators that render folders of Markdown, and the choice of one."""

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


def site_of(root: Path, request: SourceRequest) -> Site:
    """The site that is rendered from a folder, which may be a repository or just its documentation.

    The request names the generator; else it is the first whose configuration lies in the folder. Raises ValueError
    when a configuration cannot be read.
    """
    named = request.generator in GENERATORS
    for name in (request.generator,) if named else () if request.generator else GENERATORS:
        if site := GENERATORS[name](root, request, named):
            return site
    return Site("plain", (Tree(root),), lambda name, front: None)
