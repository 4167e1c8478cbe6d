"""Jekyll: pages and collections, with the addresses that `_config.yml` and `permalink` give them."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml

from search.sources.files import MARKDOWN, list_files
from search.sources.markdown import configuration
from search.sources.markdown.front_matter import UNKNOWN_GROUPS, is_set, name_groups
from search.sources.markdown.sites import (
    MAX_STARS,
    Meta,
    Site,
    Tree,
    as_mapping,
    compile_ignore_rules,
    find_cut,
    is_future,
    remove_ending,
)
from search.sources.markdown.slugs import GITHUB, Slugs, drop_unknown_anchors
from search.sources.request import SourceRequest

_CONFIGS = ("_config.yml", "_config.yaml")
MAX_DEFAULTS = 300  # entries
_OWN_FIELDS = frozenset(
    ("theme", "remote_theme", "collections", "kramdown", "markdown", "plugins", "gems", "baseurl", "permalink", "sass")
)
_STYLES = {
    "date": "/:categories/:year/:month/:day/:title:output_ext",
    "pretty": "/:categories/:year/:month/:day/:title/",
    "ordinal": "/:categories/:year/:y_day/:title:output_ext",
    "weekdate": "/:categories/:year/W:week/:short_day/:title:output_ext",
    "none": "/:categories/:title:output_ext",
}
_POST = re.compile(r"(?:.*/)?(\d{4})-(\d\d?)-(\d\d?)-([^/]+)")
_TOKEN = re.compile(r":(\w+?)(?=:|[^\w]|$|_(?!ext|day|month))")
_UNREADABLE_GLOB = re.compile(rf"[\[{{\\]|(?:\*[^*]*){{{MAX_STARS + 1}}}")  # in a path of `defaults`
_DEFAULT_EXCLUDES = ("/vendor/", "/node_modules/")
_VERBATIM = re.compile(r"\{%-?[ \t]{0,9}(raw|endraw|comment|endcomment)[ \t]{0,9}-?%\}")
_TAG = re.compile(r"\{%-?\s{0,9}(\w{1,50}+)([^%{}]{0,1000}+)%\}|\{\{((?:(?!\{\{|\}\}).){0,1000})\}\}", re.DOTALL)
_ANY_TAG = re.compile(r"\{%[^%]{0,1000}%\}")  # may hold a value in braces
_ADDRESS = re.compile(r"\s*[\"']([^\"'\n]*)[\"']\s*\|\s*(?:relative_url|absolute_url|prepend:.*)\s*")
# kramdown: attributes of a heading may stand on the line below.
_BELOW = re.compile(r"(?m)^(#{1,6}[ \t].*)\n(\{:[^{}#\n]*+#[^{}\n]*+\})[ \t]*$")


def detect_site(root: Path, folder: Path | None, request: SourceRequest) -> Site | None:
    """The site, if its configuration is in the folder."""
    if folder is None:
        return _build_site({}, root)
    file = configuration.find(folder, _CONFIGS)
    if not file or (not request.generator and (folder / "_toc.yml").is_file()):  # Jupyter Book has both files
        return None
    config = as_mapping(configuration.load(root, file, yaml.BaseLoader))
    is_site = request.generator or _OWN_FIELDS & set(config)
    is_hexo = "source_dir" in config or configuration.depends_on(root, folder, "hexo")
    return _build_site(config, folder) if is_site and (request.generator or not is_hexo) else None


def _build_site(config: Meta, folder: Path) -> Site:
    kramdown = as_mapping(config.get("kramdown"))
    style = str(config.get("permalink") or "date")
    timezone = str(config.get("timezone") or "")
    above = f"{str(config.get('collections_dir') or '').strip('/')}/".removeprefix("/")
    collections = _read_collections(config)
    entries = _read_defaults(config)
    defaults = _limit_defaults(entries)
    excluded = config.get("exclude")
    patterns = map(str, excluded if isinstance(excluded, list) else ())
    is_excluded = compile_ignore_rules("\n".join([*_DEFAULT_EXCLUDES, *patterns]))

    def find_collection(name: str) -> tuple[str, str]:
        """The collection of a file, and its name in there; empty for a page."""
        first, slash, inner = name.removeprefix(above).partition("/")
        if slash and name.startswith(f"{above}_") and first[1:] in collections:
            return first[1:], inner
        before, posts, rest = name.partition("/_posts/")
        return ("posts", f"{before}/{rest}") if posts else ("", name)

    def find_defaults(name: str) -> Meta:
        names = {name, name.removeprefix(above)}  # paths may leave out `collections_dir`
        return _find_defaults(defaults, names, find_collection(name)[0] or "pages")

    def find_exclusion(name: str, meta: Meta) -> str:
        collection, inner = find_collection(name)
        post = _POST.fullmatch(remove_ending(inner)) if collection == "posts" else None
        day = str(meta.get("date") or "") if collection else ""
        day = day or (f"{post[1]}-{post[2]:0>2}-{post[3]:0>2}" if post else "")
        return f"it is published on {day[:10]}" if is_future(day) and not is_set(config.get("future")) else ""

    def address(name: str, front: Meta) -> str:
        collection, inner = find_collection(name)
        given = front.get("permalink") or find_defaults(name).get("permalink")
        pattern = str(given or collections.get(collection, {}).get("permalink") or "")
        if not pattern:
            pattern = _STYLES.get(style, style) if collection == "posts" else _add_suffix(collection, inner, style)
        return _fill(_STYLES.get(pattern, pattern), collection, inner, front, timezone)

    def is_page(name: str) -> bool:
        collection, inner = find_collection(name)
        if collection:
            has_date = collection != "posts" or bool(_POST.fullmatch(remove_ending(inner)))
            return has_date and str(collections[collection].get("output")).lower() == "true"
        return not is_excluded(name) and not any(part.startswith("_") for part in name.split("/"))

    files = [name for name in list_files(folder) if name.lower().endswith(MARKDOWN)] if "defaults" in config else []
    return Site(
        "jekyll",
        (Tree(folder, language=str(config.get("lang") or config.get("locale") or "")),),
        address,
        is_page,
        KRAMDOWN if str(kramdown.get("input", "GFM")).lower() == "kramdown" else KRAMDOWN_GFM,
        page_metadata={remove_ending(name): find_defaults(name) for name in files},
        rewrite=remove_liquid,
        find_exclusion=find_exclusion,
        problems=find_cut("defaults of _config.yml", len(entries), MAX_DEFAULTS),
    )


def _read_collections(config: Meta) -> dict[str, Meta]:
    """The settings of each collection; that of the posts is always there."""
    named = config.get("collections")
    named = as_mapping(dict.fromkeys(map(str, named)) if isinstance(named, list) else named)
    return {"posts": {"output": "true"}, **{str(name): as_mapping(named[name]) for name in named}}


def _read_defaults(config: Meta) -> list[Meta]:
    """The entries of `defaults`, whose values have groups under one name."""
    entries = config.get("defaults")
    entries = list(map(as_mapping, entries if isinstance(entries, list) else ()))
    return [{**entry, "values": name_groups(as_mapping(entry.get("values")))} for entry in entries]


def _limit_defaults(entries: Sequence[Meta]) -> list[Meta]:
    """The first entries of `defaults`. If later ones have groups, the groups of all pages are unknown."""
    has_groups = any("groups" in entry["values"] for entry in entries[MAX_DEFAULTS:])
    return [*entries[:MAX_DEFAULTS], *([{"values": {"groups": UNKNOWN_GROUPS}}] if has_groups else [])]


def _find_defaults(defaults: Sequence[Meta], names: set[str], kind: str) -> dict[str, Any]:
    """The metadata that `defaults` give to a file; the longest path wins."""
    found: list[tuple[int, Meta]] = []
    for entry in defaults:
        scope = as_mapping(entry.get("scope"))
        path = str(scope.get("path") or "").removeprefix("./").strip("/")
        values = entry["values"]
        if "*" in path and _UNREADABLE_GLOB.search(path):
            is_below, values = "groups" in values, {"groups": UNKNOWN_GROUPS}
        else:
            is_below = any(map(_is_below(path), names))
        if is_below and scope.get("type", kind) in (kind, ""):
            found.append((len(path), values))
    found.sort(key=lambda default: default[0])
    return {field: value for _, values in found for field, value in values.items()}


@lru_cache(maxsize=300)
def _is_below(path: str) -> Callable[[str], bool]:
    """A test for the files that a `path` of `defaults` covers: a file, those of a folder, or of a pattern with `*`."""
    if "*" in path:
        return compile_ignore_rules(f"/{path}")
    return lambda name: not path or name == path or name.startswith(f"{path}/")


def _add_suffix(collection: str, inner: str, style: str) -> str:
    """The pattern of a page, or of a document in a collection, for the style of the site."""
    if not collection and remove_ending(inner).rpartition("/")[2] == "index":
        return "/:folder/"
    stem = "/:collection/:path" if collection else "/:folder/:basename"
    if style == "pretty" or (style not in _STYLES and style.endswith("/")):
        return f"{stem}/"
    return f"{stem}:output_ext" if style in _STYLES or style.endswith(":output_ext") else stem


def _fill(pattern: str, collection: str, inner: str, front: Meta, timezone: str) -> str:
    """The address by a pattern such as `/:categories/:title/`."""
    bare = remove_ending(inner)
    folder, _, last = bare.rpartition("/")
    post = _POST.fullmatch(bare) if collection == "posts" else None
    day = _find_day(str(front.get("date") or ""), timezone).split("-")
    year, month, number = day if len(day) == 3 else (post[1], post[2], post[3]) if post else ("", "", "")
    slug = str(front.get("slug") or (post[4] if post else last))
    categories = front.get("categories") or front.get("category") or []
    words = categories.split() if isinstance(categories, str) else categories if isinstance(categories, list) else []
    tokens = {
        "collection": collection, "path": bare, "folder": folder, "basename": last, "name": last, "title": slug,
        "slug": slug.lower(), "output_ext": ".html", "year": year, "month": month.zfill(2), "day": number.zfill(2),
        "i_month": month.lstrip("0"), "i_day": number.lstrip("0"), "short_year": year[2:],
        "categories": "/".join(str(word).lower() for word in words),
    }  # fmt: skip
    filled = _TOKEN.sub(lambda token: tokens.get(token[1], str(front.get(token[1], token[0]))), pattern)
    path = re.sub("/{2,}", "/", filled).lstrip("/")
    return path.removesuffix("index.html")


def _find_day(text: str, timezone: str) -> str:
    """The day of a post's date in the site's time zone, such as `2024-03-05`; empty without a date."""
    with suppress(ValueError, OSError, ZoneInfoNotFoundError):
        moment = datetime.fromisoformat(text.replace(" +", "+").replace(" -", "-"))
        if timezone and moment.tzinfo:
            return moment.astimezone(ZoneInfo(timezone)).date().isoformat()
    return text[:10]


def _make_kramdown_slug(text: str) -> str:
    """The id of kramdown's own parser: ASCII from the first letter on."""
    bare = re.sub(r"[^a-zA-Z0-9 -]", "", re.sub("^[^a-zA-Z]+", "", text))
    return bare.replace(" ", "-").lower() or "section"


KRAMDOWN = Slugs("kramdown", _make_kramdown_slug)
KRAMDOWN_GFM = Slugs("kramdown GFM", GITHUB.slug, drops_dashes=True)


def remove_liquid(body: str) -> str:
    """The page without Liquid, and with the ids of headings on their lines.

    A heading with a value of Liquid's has no anchor, because its text is not known.
    """
    if "{%" in body or "{{" in body:
        body = "".join(_rewrite_pieces(body))
    return _BELOW.sub(r"\1 \2", body) if "{:" in body else body


def _rewrite_pieces(body: str) -> Iterator[str]:
    """Yield what stands outside of `raw` and `comment` without Liquid, and what stands in `raw` as it is."""
    around, at = "", 0
    for mark in _VERBATIM.finditer(body):
        if not around and not mark[1].startswith("end"):
            yield _rewrite_piece(body[at : mark.start()])
            around, at = mark[1], mark.end()
        elif mark[1] == f"end{around}":
            yield body[at : mark.start()] if around == "raw" else ""
            around, at = "", mark.end()
    yield _rewrite_piece(body[at:])


def _rewrite_piece(text: str) -> str:
    return _ANY_TAG.sub("", _TAG.sub(_write, drop_unknown_anchors(text, "{{", "{%")))


def _write(found: re.Match[str]) -> str:
    name, rest, value = found.groups()
    if value is not None:
        address = _ADDRESS.fullmatch(value.strip("-"))
        return address[1] if address else ""
    words = rest.removesuffix("-").split()
    if name == "highlight":
        return f"```{words[0] if words else ''}"
    if name == "link" and words:
        return f"/{words[0]}"
    if name == "post_url" and words:
        return f"/_posts/{words[0]}.md"
    return "```" if name == "endhighlight" else ""
