"""VitePress: the plain settings of `.vitepress/config.*`, which is a program and is not run."""

import re
from pathlib import Path

from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import Meta, Site, Tree, ignore_rule, read_config, stem
from search.sources.markdown.slugs import VITEPRESS
from search.sources.request import SourceRequest

_CONFIGS = tuple(f"config{ending}" for ending in (".ts", ".mts", ".js", ".mjs", ".cjs", ".cts"))
_SOURCE = re.compile(r"\bsrcDir\s*:\s*[\"'`]([^\"'`\n]+)[\"'`]")
_CLEAN = re.compile(r"\bcleanUrls\s*:\s*true\b")
_EXCLUDED = re.compile(r"\bsrcExclude\s*:\s*\[([^\]]{0,2000})\]")


def site(root: Path, request: SourceRequest, named: bool) -> Site | None:
    """The site whose configuration lies in the folder or in its `docs`."""
    for folder in (root, root / "docs"):
        settings = folder / ".vitepress"
        found = [settings / name for name in _CONFIGS if (settings / name).is_file()]
        if found or (settings / "config").is_dir():
            return _site(read_config(root, found[0]) if found else "", root, folder)
    return _site("", root, root) if named else None


def _site(config: str, root: Path, folder: Path) -> Site:
    named = _SOURCE.search(config)
    source = (folder / named[1]).resolve() if named else folder
    if not source.is_relative_to(root.resolve()) or not source.is_dir():
        source = folder
    excluded = _EXCLUDED.search(config)
    unseen = ignore_rule("\n".join(re.findall(r"[\"'`]([^\"'`\n]+)[\"'`]", excluded[1])) if excluded else "")
    ending = "" if _CLEAN.search(config) else ".html"

    def address(name: str, front: Meta) -> str:
        place, _, last = stem(name).rpartition("/")
        return place and f"{place}/" if last == "index" else f"{stem(name)}{ending}"

    return Site(
        "vitepress",
        (Tree(source),),
        address,
        lambda name: not unseen(name),
        VITEPRESS,
        Includes("vitepress", root, (source,)),
    )
