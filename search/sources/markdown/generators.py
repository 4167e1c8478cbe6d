"""Which generator renders a folder of Markdown, and so how its pages are called."""

from collections.abc import Callable
from pathlib import Path

from search.sources.markdown import docusaurus, mintlify, mkdocs, vitepress
from search.sources.markdown.sites import Site, Tree
from search.sources.reading import Reading

GENERATORS: dict[str, Callable[[Path, Reading, bool], Site | None]] = {
    "mkdocs": mkdocs.site,
    "mintlify": mintlify.site,
    "docusaurus": docusaurus.site,
    "vitepress": vitepress.site,
}


def find(root: Path, reading: Reading) -> Site:
    """The site that a folder is the source of: a repository, or just its documentation.

    The generator that the reading names, or else that whose configuration lies there. Raises ValueError when a
    configuration cannot be read.
    """
    named = reading.generator in GENERATORS
    for name in (reading.generator,) if named else () if reading.generator else GENERATORS:
        if site := GENERATORS[name](root, reading, named):
            return site
    return Site("plain", (Tree(root),), lambda name, front: None)
