"""Starlight (Astro): the collection `src/content/docs`, and the plain settings of `astro.config.*`."""

import re
from collections.abc import Mapping
from pathlib import Path

from docsite.core.unicode.normalization import normalize
from search.sources.markdown import configuration, javascript
from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import Meta, Site, Tree, remove_ending
from search.sources.markdown.slugs import GITHUB
from search.sources.request import SourceRequest
from search.text.markdown.plain_text import slug

_CONFIGS = javascript.list_names("astro.config")
_COLLECTION = "src/content/docs"
_MARKDOC_ID = re.compile(r"(?m)^(#{1,6}[ \t](?:[^{\n]|\{(?!%))*+)\{%[ \t]{0,9}#([\w-]{1,200}+)[ \t]{0,9}%\}[ \t]*+$")


def detect_site(root: Path, folder: Path | None, request: SourceRequest) -> Site | None:
    """The site, if its configuration and its collection are in the folder, and one of Astro's files names Starlight."""
    if folder is None:
        return _build_site("", {}, root, root, request)
    file = configuration.find(folder, _CONFIGS)
    if not file or not (folder / _COLLECTION).is_dir():
        return None
    config = javascript.remove_comments(configuration.read_text(root, file))
    if not (request.generator or "starlight" in config or configuration.depends_on(root, folder, "@astrojs/starlight")):
        return None
    languages = configuration.find_languages(root, file, config)
    return _build_site(config, languages, root, folder / _COLLECTION, request)


def _build_site(config: str, languages: Mapping[str, str], root: Path, docs: Path, request: SourceRequest) -> Site:
    base = configuration.remove_known_base(javascript.find_own_text(config, "base"), request)
    end = "" if javascript.find_own_text(config, "trailingSlash") == "never" else "/"

    def address(name: str, front: Meta) -> str:
        given = front.get("slug")
        is_given = isinstance(given, str) and given
        path = str(given) if is_given else "/".join(map(slug, remove_ending(name).split("/")))
        path = normalize("NFC", path.strip("/"))
        path = "" if path == "index" else path.removesuffix("/index")
        return f"{path}{end}" if path else ""

    return Site(
        "starlight",
        (Tree(docs, base),),
        address,
        lambda name: not name.rpartition("/")[2].startswith("_") and remove_ending(name).rpartition("/")[2] != "404",
        GITHUB,
        Includes("mdx", root, (docs, *docs.parents[1:3])),  # `@/` is `src`
        languages=languages,
        base=base,
        rewrite=_rewrite,
    )


def _rewrite(body: str) -> str:
    """The page with the ids that Markdoc gives to headings."""
    return _MARKDOC_ID.sub(r"\1 {#\2}", body) if "{%" in body else body
