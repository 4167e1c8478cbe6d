"""Nextra (Next.js): pages in `content`, in `pages` or as `page.mdx` in `app`, and plain settings of `next.config.*`."""

import re
from pathlib import Path

from search.sources.markdown import configuration, javascript
from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import Meta, Site, Tree, remove_ending
from search.sources.markdown.slugs import GITHUB
from search.sources.request import SourceRequest

_CONFIGS = javascript.list_names("next.config")
_TREES = ("content", "src/content", "pages", "src/pages", "app", "src/app")
_HIDDEN_FOLDER = re.compile(r"[_@\[]")  # of Next.js: private folders, slots, and addresses that are computed


def detect_site(root: Path, folder: Path | None, request: SourceRequest) -> Site | None:
    """The site, if its configuration is in the folder, and one of its files names Nextra."""
    if folder is None:
        return _build_site("", root, root, request)
    file = configuration.find(folder, _CONFIGS)
    config = javascript.remove_comments(configuration.read_text(root, file)) if file else ""
    is_site = request.generator or "nextra" in config or configuration.depends_on(root, folder, "nextra")
    return _build_site(config, root, folder, request) if file and is_site else None


def _build_site(config: str, root: Path, folder: Path, request: SourceRequest) -> Site:
    base = configuration.remove_known_base(javascript.find_text(config, "basePath"), request)
    below = javascript.find_text(config, "contentDirBasePath").strip("/")
    trees = [
        Tree(folder / name, "/".join(filter(None, (base, below if name.endswith("content") else ""))))
        for name in _TREES
        if (folder / name).is_dir()
    ]
    locales = javascript.find_list(config, "locales")
    default = javascript.find_text(config, "defaultLocale")
    end = "/" if javascript.find_flag(config, "trailingSlash") else ""
    apps = [tree.folder for tree in trees if tree.folder.name == "app"]

    def address(name: str, front: Meta) -> str:
        bare, language = remove_ending(name), ""
        before, dot, last = bare.rpartition(".")
        if dot and last in locales:  # `guide.de.mdx` of Nextra 2 and 3
            bare, language = before, "" if last == default else last
        parts = [part for part in bare.split("/") if not (part.startswith("(") and part.endswith(")"))]
        if parts[-1] == "index" or (parts[-1] == "page" and _is_in_app(name)):
            parts.pop()
        path = "/".join(filter(None, (language, *parts)))
        return f"{path}{end}" if path else ""

    def _is_in_app(name: str) -> bool:
        return any((app / name).is_file() for app in apps)

    def is_page(name: str) -> bool:
        *folders, last = remove_ending(name).split("/")
        if any(map(_HIDDEN_FOLDER.match, (*folders, last))):
            return False
        return last == "page" or not _is_in_app(name)

    return Site(
        "nextra",
        tuple(trees) or (Tree(folder, base),),
        address,
        is_page,
        GITHUB,
        Includes("mdx", root, (folder,)),
        languages={**{locale: locale for locale in locales}, "": default},
        base=base,
    )
