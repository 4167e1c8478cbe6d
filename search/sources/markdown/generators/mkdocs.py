"""MkDocs: `mkdocs.yml`, including the settings of extensions for anchors and included files."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from docsite.core.paths import normalize
from docsite.core.unicode.normalization import Form
from search.sources import PageRedirect
from search.sources.files import MARKDOWN, resolve_links
from search.sources.markdown import configuration
from search.sources.markdown.generators import material
from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import Meta, Site, Tree, as_mapping, compile_ignore_rules, remove_ending
from search.sources.markdown.slugs import Slugs, build_pymdownx_slugs, build_python_markdown_slugs
from search.sources.request import SourceRequest

_CONFIG_FILES = ("mkdocs.yml", "mkdocs.yaml")
MAX_ENTRIES = 20_000  # of a navigation; YAML aliases can make it endless
MAX_OPTIONS = 300  # of extensions or plugins, and of one of them
_PYTHON = "tag:yaml.org,2002:python/"


class _Loader(yaml.BaseLoader):
    """Loads all values as text. A Python object becomes its name and its keyword arguments."""


def _python_object(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    arguments = loader.construct_mapping(node, deep=True) if isinstance(node, yaml.MappingNode) else {}
    kwargs = arguments.get("kwds")
    return {"python": suffix.partition(":")[2], **(kwargs if isinstance(kwargs, dict) else {})}


_Loader.add_multi_constructor(_PYTHON, _python_object)


def detect_site(root: Path, folder: Path | None, request: SourceRequest) -> Site | None:
    """The site, if its configuration is in the folder, which may be above the folder `docs_dir` that is read."""
    if folder is None:
        return _build_site({}, root, root, root)
    if not (file := configuration.find(folder, _CONFIG_FILES)):
        return None
    config = configuration.load(folder if folder == root.parent else root, file, _Loader)
    if not isinstance(config, dict):
        raise ValueError(f"{file.name} is not a list of names and values")
    docs = resolve_links(folder / _get_text(config.get("docs_dir"), "docs"))
    if folder == root.parent and docs != resolve_links(root):
        return None
    if not docs.is_relative_to(resolve_links(root)):
        raise ValueError(f"{file.name}: its docs_dir lies outside the folder that is read")
    return _build_site(config, root, folder, docs)


def _build_site(config: Meta, root: Path, folder: Path, docs: Path) -> Site:
    use_directories = _get_text(config.get("use_directory_urls"), "true").lower() != "false"
    extensions = _normalize_options(config.get("markdown_extensions"))
    snippets = extensions.get("pymdownx.snippets", {})
    bases = snippets.get("base_path", ["."])
    bases = [base for base in (bases if isinstance(bases, list) else [bases]) if isinstance(base, str)]
    is_excluded = compile_ignore_rules("\n".join([".*", "/templates/", _get_text(config.get("exclude_docs"), "")]))
    is_draft = compile_ignore_rules(_get_text(config.get("draft_docs"), ""))

    plugins = _normalize_options(config.get("plugins"))
    blog_options = next((plugins[name] for name in ("blog", "material/blog") if name in plugins), None)
    blog = None if blog_options is None else material.Blog(blog_options)
    language = _get_text(as_mapping(config.get("theme")).get("language"), "")
    default, translations = _read_translations(plugins.get("i18n", {}))
    is_suffix = plugins.get("i18n", {}).get("docs_structure") != "folder"

    def address(name: str, front: Meta) -> str:
        bare, dot, code = remove_ending(name).rpartition(".")
        if is_suffix and dot and code in (default, *translations):
            name = f"{bare}.md" if code == default else f"{code}/{bare}.md"
        elif not is_suffix and default:
            name = name.removeprefix(f"{default}/")
        return make_address(name, front)

    def make_address(name: str, front: Meta) -> str:
        if blog and (post := blog.find_address(name, front)):
            return f"{post}/" if use_directories else f"{post}.html"
        folder_path, _, last = remove_ending(name).rpartition("/")
        if last.lower() in ("index", "readme"):
            return f"{folder_path}/" if use_directories and folder_path else folder_path and f"{folder_path}/index.html"
        bare = f"{folder_path}/{last}".lstrip("/")
        return f"{bare}/" if use_directories else f"{bare}.html"

    def is_page(name: str) -> bool:
        has_index = name.rpartition("/")[2] == "README.md" and (docs / name).with_name("index.md").exists()
        return not (has_index or is_excluded(name) or is_draft(name))

    return Site(
        "mkdocs",
        (Tree(docs),),
        address,
        is_page,
        _build_slugs(extensions.get("toc") or extensions.get("markdown.extensions.toc") or {}),
        Includes("mkdocs", root, (*(folder / base for base in bases), folder, docs)),
        dict(_walk_navigation(config.get("nav"))),
        tuple(_read_redirects(config, address)),
        languages={**{code: code for code in translations}, "": language or default},
        rewrite=material.rewrite,
        uses_title=blog is not None,
    )


def _get_text(value: Any, default: str) -> str:
    """A text setting, or the default. `!ENV [NAME, default]` gives its own default."""
    if isinstance(value, list) and len(value) > 1:
        value = value[-1]
    return value if isinstance(value, str) and value else default


def _normalize_options(value: Any) -> dict[str, dict[str, Any]]:
    """The options of extensions or plugins by name. The setting may be a list or a mapping."""
    found: dict[str, dict[str, Any]] = {}
    for item in value[:MAX_OPTIONS] if isinstance(value, list) else [value]:
        if isinstance(item, str):
            found[item] = {}
        elif isinstance(item, dict):
            for name, options in islice(item.items(), MAX_OPTIONS):
                found[str(name)] = options if isinstance(options, dict) else {}
    return found


def _read_translations(i18n: Meta) -> tuple[str, list[str]]:
    """The default language of the plugin mkdocs-static-i18n, and the others."""
    entries = i18n.get("languages")
    entries = [as_mapping(entry) for entry in entries[:MAX_OPTIONS]] if isinstance(entries, list) else []
    codes = {_get_text(entry.get("locale"), ""): entry.get("default") == "true" for entry in entries} if entries else {}
    default = next((code for code, is_default in codes.items() if is_default), "")
    return default, [code for code in codes if code and code != default]


def _build_slugs(toc: Meta) -> Slugs:
    """The slugs of headings, from the options of the `toc` extension."""
    separator = _get_text(toc.get("separator"), "-")
    slugify = toc.get("slugify")
    options: Meta = slugify if isinstance(slugify, Mapping) else {"python": slugify or ""}
    function = _get_text(options.get("python"), "")
    if "pymdownx" not in function:
        return build_python_markdown_slugs(separator, function.endswith("slugify_unicode"))
    encoded = function.endswith(("_encoded", "gfm_encoded")) or options.get("percent_encode") == "true"
    old_cases = {"uslugify": "lower", "uslugify_encoded": "lower", "gfm": "lower-ascii", "gfm_encoded": "lower-ascii"}
    case = old_cases.get(function.rpartition(".")[2], _get_text(options.get("case"), "none"))
    forms: dict[str, Form] = {"NFD": "NFD", "NFKC": "NFKC", "NFKD": "NFKD"}
    return build_pymdownx_slugs(separator, case, encoded, forms.get(_get_text(options.get("normalize"), "NFC"), "NFC"))


def _walk_navigation(nav: Any) -> Iterator[tuple[str, Meta]]:
    """Yield the pages in the navigation with their titles."""
    stack: list[tuple[str, Any]] = [("", nav)]
    for _ in range(MAX_ENTRIES):
        if not stack:
            return
        title, entry = stack.pop()
        max_children = MAX_ENTRIES - len(stack)
        if isinstance(entry, str) and title and "://" not in entry:
            yield remove_ending(entry.lstrip("/")), {"navTitle": title}
        elif isinstance(entry, list):
            stack += [("", inner) for inner in entry[:max_children]]
        elif isinstance(entry, dict):
            stack += [(name, inner) for name, inner in islice(entry.items(), max_children) if isinstance(name, str)]


def _read_redirects(config: Meta, address: Callable[[str, Meta], str]) -> Iterator[PageRedirect]:
    maps = _normalize_options(config.get("plugins")).get("redirects", {}).get("redirect_maps")
    for old, new in maps.items() if isinstance(maps, dict) else ():
        if isinstance(old, str) and isinstance(new, str) and "://" not in new:
            target = new.partition("#")[0]
            yield PageRedirect(*(normalize(address(name, {})) if name.endswith(MARKDOWN) else normalize(name)
                          for name in (old, target)))  # fmt: skip
