"""VitePress: the plain settings of `.vitepress/config.*`, which is not executed."""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from search.sources.markdown import configuration, javascript
from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import Meta, Site, Tree, compile_ignore_rules, find_cut, remove_ending
from search.sources.markdown.slugs import VITEPRESS
from search.sources.request import SourceRequest

_CONFIGS = javascript.list_names("config")
_PARAMETER = re.compile(r"(:\w+[*+]?)")
MAX_REWRITES = 100
MAX_CONFIGS = 50


def detect_site(root: Path, folder: Path | None, request: SourceRequest) -> Site | None:
    """The site, if its configuration is in the folder: a file, or several that the first one imports."""
    if folder is None:
        return _build_site("", {}, root, root)
    settings = folder / ".vitepress"
    file = configuration.find(settings, _CONFIGS)
    files = [file] if file else sorted((settings / "config").glob("*.*s"), key=lambda one: (one.stem != "index", one))
    texts = [configuration.read_text(root, file) for file in files[:MAX_CONFIGS]]
    config = javascript.remove_comments("\n".join(texts))
    return _build_site(config, configuration.find_languages(root, files[0], config), root, folder) if texts else None


def _build_site(config: str, languages: Mapping[str, str], root: Path, folder: Path) -> Site:
    source = configuration.find_inner_folder(root, folder / (javascript.find_text(config, "srcDir") or ".")) or folder
    is_excluded = compile_ignore_rules("\n".join(javascript.find_list(config, "srcExclude")))
    ending = "" if javascript.find_flag(config, "cleanUrls") else ".html"

    pairs = list(javascript.find_pairs(config, "rewrites").items())
    rewrites = [
        (pattern, target) for source_path, target in pairs[:MAX_REWRITES] if (pattern := _compile_rewrite(source_path))
    ]

    def address(name: str, front: Meta) -> str:
        bare = remove_ending(_rewrite(name, rewrites))
        folder_path, _, last = bare.rpartition("/")
        return folder_path and f"{folder_path}/" if last == "index" else f"{bare}{ending}"

    return Site(
        "vitepress",
        (Tree(source),),
        address,
        lambda name: not is_excluded(name),
        VITEPRESS,
        Includes("vitepress", root, (source,)),
        languages=languages,
        problems=find_cut("rewrites of the configuration", len(pairs), MAX_REWRITES),
    )


def _compile_rewrite(source: str) -> re.Pattern[str] | None:
    """The expression for the left side of a rewrite, such as `packages/:name/docs/:page*`; None if it is not plain."""
    pattern = ""
    for piece in _PARAMETER.split(source):
        if not piece.startswith(":"):
            pattern += re.escape(piece)
        elif piece[-1] in "*+":
            pattern += f"(?P<{piece[1:-1]}>.{piece[-1]})"
        else:
            pattern += f"(?P<{piece[1:]}>[^/]+)"
    try:
        return re.compile(pattern)
    except re.error:
        return None


def _rewrite(name: str, rewrites: list[tuple[re.Pattern[str], str]]) -> str:
    """The name of a file as the first matching rewrite changes it."""
    for pattern, target in rewrites:
        if found := pattern.fullmatch(name):
            return _PARAMETER.sub(partial(_fill, found.groupdict()), target).lstrip("/")
    return name


def _fill(parts: dict[str, str], parameter: re.Match[str]) -> str:
    return parts.get(parameter[1].strip(":*+"), "")
