"""VitePress: the plain settings of `.vitepress/config.*`, which is not executed."""

import re
from pathlib import Path

from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import Meta, Site, Tree, compile_ignore_rules, read_config, remove_ending
from search.sources.markdown.slugs import VITEPRESS
from search.sources.request import SourceRequest

_CONFIGS = tuple(f"config{ending}" for ending in (".ts", ".mts", ".js", ".mjs", ".cjs", ".cts"))
_SOURCE = re.compile(r"\bsrcDir\s*:\s*[\"'`]([^\"'`\n]+)[\"'`]")
_CLEAN = re.compile(r"\bcleanUrls\s*:\s*true\b")
_EXCLUDED = re.compile(r"\bsrcExclude\s*:\s*\[([^\]]{0,2000})\]")


def detect_site(root: Path, request: SourceRequest, is_requested: bool) -> Site | None:
    """The site, if its configuration is in the folder or in its `docs`."""
    for folder in (root, root / "docs"):
        settings = folder / ".vitepress"
        files = [settings / name for name in _CONFIGS if (settings / name).is_file()]
        if files or (settings / "config").is_dir():
            return _build_site(read_config(root, files[0]) if files else "", root, folder)
    return _build_site("", root, root) if is_requested else None


def _build_site(config: str, root: Path, folder: Path) -> Site:
    source_setting = _SOURCE.search(config)
    source = (folder / source_setting[1]).resolve() if source_setting else folder
    if not source.is_relative_to(root.resolve()) or not source.is_dir():
        source = folder
    excluded = _EXCLUDED.search(config)
    patterns = re.findall(r"[\"'`]([^\"'`\n]+)[\"'`]", excluded[1]) if excluded else []
    is_excluded = compile_ignore_rules("\n".join(patterns))
    ending = "" if _CLEAN.search(config) else ".html"

    def address(name: str, front: Meta) -> str:
        folder_path, _, last = remove_ending(name).rpartition("/")
        return folder_path and f"{folder_path}/" if last == "index" else f"{remove_ending(name)}{ending}"

    return Site(
        "vitepress",
        (Tree(source),),
        address,
        lambda name: not is_excluded(name),
        VITEPRESS,
        Includes("vitepress", root, (source,)),
    )
