"""Hugo: the content of each language, and the settings of its configuration that make addresses and anchors."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from docsite.core.unicode.normalization import to_ascii
from search.sources.files import MARKDOWN, list_files, read_text_in_folder
from search.sources.markdown import configuration
from search.sources.markdown.front_matter import UNKNOWN_GROUPS, is_set, name_groups, split_front_matter, to_text
from search.sources.markdown.generators.hugo_shortcodes import Shortcodes
from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import Meta, Site, Tree, as_mapping, is_future, is_past, remove_ending
from search.sources.markdown.slugs import Slugs
from search.sources.request import SourceRequest

_ENDINGS = (".toml", ".yaml", ".yml", ".json")
_NAMES = tuple(name + ending for name in ("hugo", "config") for ending in _ENDINGS)
_PATH_SIGNS = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd"))
_TOKEN = re.compile(r":(\w+)")


def detect_site(root: Path, folder: Path | None, request: SourceRequest) -> Site | None:
    """The site, if its configuration is in the folder."""
    if folder is None:
        return _build_site({"contentdir": "."}, root, root)
    config = _read_configuration(root, folder)
    is_site = (folder / "content").is_dir() or "contentdir" in config or "module" in config
    return _build_site(config, root, folder) if config and is_site else None


def _build_site(config: Meta, root: Path, folder: Path) -> Site:
    ugly = config.get("uglyurls") is True
    keep_case = config.get("disablepathtolower") is True
    trees = tuple(_find_trees(config, root, folder))
    default = _get_default_language(config)
    languages = {name for name in as_mapping(config.get("languages")) if name != default}
    names = (name for tree in trees for name in list_files(tree.folder))
    indexes = (name.rpartition("/")[::2] for name in names if name.endswith(MARKDOWN))
    bundles = {folder for folder, last in indexes if folder and last.startswith("index.")}  # one page with its files
    permalinks = as_mapping(config.get("permalinks"))
    permalinks = {**permalinks, **as_mapping(permalinks.get("page"))}

    places = [place for tree in trees for place in (tree.folder, tree.folder / "includes", tree.folder / "examples")]

    def address(name: str, front: Meta) -> str:
        bare, language = _split_language(name, languages | {default})
        below = f"{language}/" if language in languages else ""
        path = "/".join(_make_path(part, keep_case) for part in bare.split("/"))
        folder_path, _, last = path.rpartition("/")
        url = front.get("url")
        if isinstance(url, str) and url and "://" not in url:
            return url[1:] if url.startswith("/") else f"{below}{url}"
        if last == "_index":
            return below + (folder_path and f"{folder_path}/")
        if last == "index":
            folder_path, _, last = folder_path.rpartition("/")
        slug = front.get("slug")
        last = _make_path(slug, keep_case) if isinstance(slug, str) and slug else last
        pattern = permalinks.get(folder_path.partition("/")[0])
        bare = f"{folder_path}/{last}"
        if isinstance(pattern, str):
            bare = _fill_permalink(pattern, folder_path, last, front)
        bare = below + bare.strip("/")
        return f"{bare}.html" if ugly and bare else bare and f"{bare.strip('/')}/"

    def is_page(name: str) -> bool:
        above = next(filter(bundles.__contains__, _list_folders(name.rpartition("/")[0])), "")
        return not above or _split_language(name, languages | {default})[0] == f"{above}/index"

    return Site(
        "hugo",
        trees,
        address,
        is_page,
        _build_slugs(config),
        page_metadata=dict(_cascade_metadata(config, root, trees, lambda name: _split_language(name, languages))),
        find_exclusion=partial(_find_exclusion, config),
        languages=_name_languages(config, default),
        includes=Includes("hugo", root, (*places, folder)),
        expand=Shortcodes(root, folder, _read_parameters(config, default)).expand,
        uses_title=any(isinstance(value, str) and ":title" in value for value in permalinks.values()),
    )


def _read_configuration(root: Path, folder: Path) -> dict[str, Any]:
    """The configuration with its names in lower case, as Hugo compares them; empty without one.

    The site is published, so the folder of that environment wins over the others.
    """
    config: dict[str, Any] = {}
    for place in (folder / name for name in _NAMES if (folder / name).is_file()):
        if place.stem == "hugo" or (folder / "content").is_dir():
            found = _lower(configuration.load(root, place))
            config |= found if place.stem == "hugo" or _is_hugo(folder, found) else {}
    for environment in ("_default", "production"):
        for place in sorted(file for file in (folder / "config" / environment).glob("*") if file.suffix in _ENDINGS):
            found = configuration.load(root, place)
            found = found if place.stem == "cascade" else _lower(found)
            name, _, language = place.stem.lower().partition(".")
            above = ["languages", language] if language else []
            above += [] if name in ("hugo", "config") or (language and name == "languages") else [name]
            for key in reversed(above):
                found = {key: found}
            config = _merge(config, found)
    return config


def _merge(one: Any, other: Any, depth: int = 5) -> Any:
    """Two settings as one, where those of the second win."""
    if not (isinstance(one, dict) and isinstance(other, dict) and depth):
        return other
    return {**one, **{name: _merge(one.get(name), value, depth - 1) for name, value in other.items()}}


def _is_hugo(folder: Path, config: Meta) -> bool:
    """Whether a folder with `content` and a `config.toml`, which others have too, is a site of Hugo's."""
    return "baseurl" in config or any((folder / name).is_dir() for name in ("layouts", "themes", "archetypes"))


def _lower(value: Any, depth: int = 5) -> dict[str, Any]:
    """A mapping with names in lower case, also within; anything else becomes empty."""
    return {
        str(name).lower(): _lower(inner, depth - 1) if isinstance(inner, dict) and depth else inner
        for name, inner in (value.items() if isinstance(value, dict) else ())
    }


def _find_trees(config: Meta, root: Path, folder: Path) -> Iterator[Tree]:
    """Yield the content folder of each language."""
    default = _get_default_language(config)
    below = config.get("defaultcontentlanguageinsubdir") is True
    sources = [(str(config.get("contentdir") or "content"), default)]
    for name, settings in as_mapping(config.get("languages")).items():
        if content := as_mapping(settings).get("contentdir"):
            sources = [(source, language) for source, language in sources if language != name]
            sources.append((str(content), name))
    mounts = as_mapping(config.get("module")).get("mounts")
    mounted = []
    for mount in map(_lower, mounts if isinstance(mounts, list) else ()):
        if mount.get("target") == "content":
            named = as_mapping(as_mapping(mount.get("sites")).get("matrix")).get("languages")
            named = named or mount.get("lang") or default
            mounted.append((str(mount.get("source")), str(named[0] if isinstance(named, list) else named).lower()))
    for source, language in mounted or sources:
        if content := configuration.find_inner_folder(root, folder / source):
            yield Tree(content, language if below or language != default else "")


def _get_default_language(config: Meta) -> str:
    return str(config.get("defaultcontentlanguage") or "en").lower()


def _read_parameters(config: Meta, language: str) -> dict[str, Any]:
    """The parameters of the site, with those of its default language."""
    own = as_mapping(as_mapping(as_mapping(config.get("languages")).get(language)).get("params"))
    return {**as_mapping(config.get("params")), **own}


def _name_languages(config: Meta, default: str) -> dict[str, str]:
    """The language of each folder of addresses; that of the default language is empty, unless it has a folder, too."""
    languages = as_mapping(config.get("languages"))
    names = {name: str(as_mapping(languages[name]).get("languagecode") or name) for name in languages}
    code = str(names.get(default) or config.get("languagecode") or config.get("defaultcontentlanguage") or "")
    return {**names, "": code}


def _cascade_metadata(
    config: Meta, root: Path, trees: tuple[Tree, ...], split: Callable[[str], tuple[str, str]]
) -> Iterator[tuple[str, Meta]]:
    """Yield the metadata that each file gets by `cascade` of the configuration and of the sections around it.

    As in Hugo, a section counts for its own language. Its groups count for the other languages, too, unless the section
    has groups there. The names are the paths of the files without endings, since trees have files of the same name.
    """
    default = _get_default_language(config)
    files = [
        (tree.folder / name, split(name)[1] or tree.base or default, name.rpartition("/")[0])
        for tree in trees
        for name in list_files(tree.folder)
    ]
    cascades = {(name, ""): _read_cascade(as_mapping(one)) for name, one in as_mapping(config.get("languages")).items()}
    for language in {language for _, language, _ in files}:
        cascades[language, ""] = {**_read_cascade(config), **cascades.get((language, ""), {})}
    groups: dict[str, Any] = {}
    for file, language, folder in files:
        if file.name.startswith("_index."):
            try:
                cascade = _read_cascade(split_front_matter(read_text_in_folder(root, file))[0])
            except ValueError:
                cascade = {"groups": UNKNOWN_GROUPS}
            earlier = cascades.get((language, folder), {})
            cascades[language, folder] = {**cascade, **earlier} if folder else {**earlier, **cascade}
            groups |= {folder: cascade["groups"]} if "groups" in cascade and folder not in groups else {}
    for file, language, folder in files if any(cascades.values()) else ():
        found: dict[str, Any] = {}
        for above in _list_folders(folder):
            shared = {"groups": groups[above]} if above in groups else {}
            found = {**shared, **cascades.get((language, above), {}), **found}
        if found:
            yield remove_ending(str(file)), found


def _list_folders(folder: str) -> Iterator[str]:
    """Yield the folder and those above it; the last one is empty."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def _read_cascade(meta: Meta) -> dict[str, Any]:
    """The metadata that a section gives to all pages below it.

    Those for some pages only are ignored. If they have groups, the groups of all pages below are unknown.
    """
    cascade = _lower(meta, depth=0).get("cascade") or {}
    found: dict[str, Any] = {}
    for one in cascade if isinstance(cascade, list) else [cascade]:
        one = name_groups(one) if isinstance(one, Mapping) else one
        if isinstance(one, Mapping) and not {"target", "_target"} & set(one):
            found |= {name: to_text(value) for name, value in one.items() if found.get(name) is not UNKNOWN_GROUPS}
        elif one and (not isinstance(one, Mapping) or "groups" in one):
            found["groups"] = UNKNOWN_GROUPS
    return found


def _find_exclusion(config: Meta, name: str, meta: Meta) -> str:
    """Why Hugo does not render a page; empty if it does."""
    fields = {field.lower(): value for field, value in meta.items() if isinstance(value, str) and value}
    if as_mapping(meta.get("build") or meta.get("_build")).get("render") in ("never", "false", "link"):
        return "its `build` says that it is not rendered"
    if is_set(fields.get("headless")):
        return "its front matter says `headless: true`"
    published, expired = (
        next((fields[field] for field in names if field in fields), "")
        for names in (("publishdate", "pubdate", "published", "date"), ("expirydate", "unpublishdate"))
    )
    if is_future(published) and config.get("buildfuture") is not True:
        return f"it is published on {published[:10]}"
    return "its `expiryDate` is over" if is_past(expired) and config.get("buildexpired") is not True else ""


def _split_language(name: str, languages: set[str]) -> tuple[str, str]:
    """The name of a file without its ending, and the language before the ending: `a` and `fr` for `a.fr.md`."""
    bare = remove_ending(name)
    before, _, last = bare.rpartition(".")
    return (before, last.lower()) if before and last.lower() in languages else (bare, "")


def _make_path(part: str, keep_case: bool) -> str:
    part = part.replace(" ", "-") if keep_case else part.replace(" ", "-").lower()
    return "".join(sign for sign in part if sign in "._#+~-@/%" or unicodedata.category(sign) in _PATH_SIGNS)


def _fill_permalink(pattern: str, folder: str, last: str, front: Meta) -> str:
    """The address by a pattern of `permalinks`, such as `/:year/:slug/`."""
    day = str(front.get("date") or "")[:10].split("-")
    day = day if len(day) == 3 else ["", "", ""]
    title = _make_path(str(front.get("title") or last), keep_case=False)
    tokens = {
        "year": day[0], "month": day[1], "day": day[2], "title": title, "sections": folder,
        "section": folder.partition("/")[0], "slug": last if front.get("slug") else title, "filename": last,
        "slugorfilename": last, "contentbasename": last, "slugorcontentbasename": last,
    }  # fmt: skip
    return _TOKEN.sub(lambda token: tokens.get(token[1].lower(), token[0]), pattern)


def _build_slugs(config: Meta) -> Slugs:
    goldmark = as_mapping(as_mapping(config.get("markup")).get("goldmark"))
    parser = as_mapping(goldmark.get("parser"))
    typographer = as_mapping(goldmark.get("extensions")).get("typographer")
    kind = str(parser.get("autoheadingidtype") or parser.get("autoidtype") or "github")
    has_typographer = typographer is not False
    return Slugs(f"hugo {kind} {has_typographer} code", partial(_make_slug, kind), drops_dashes=has_typographer)


def _make_slug(kind: str, text: str) -> str:
    """Goldmark's id. Letters, digits, hyphens and underscores stay; a heading without any of them is `heading`."""
    text = text.strip()
    if kind == "blackfriday":
        return re.sub(r"[\W_]+", "-", text.lower()).strip("-") or "heading"
    if kind == "github-ascii":
        text = to_ascii(text)
    kept = (sign for sign in text if sign in "-_ " or sign.isalpha() or sign.isdecimal())
    return "".join(kept).replace(" ", "-").lower() or "heading"
