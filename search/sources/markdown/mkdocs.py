"""MkDocs: `mkdocs.yml`, and how its extensions name headings and include files."""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from docsite.core.paths import normalize
from search.sources import PageRedirect
from search.sources.files import MARKDOWN
from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import Meta, Site, Tree, ignore_rule, read_config, stem
from search.sources.markdown.slugs import Form, Slugs, pymdownx, python_markdown
from search.sources.request import SourceRequest

_FILES = ("mkdocs.yml", "mkdocs.yaml")
MAX_ENTRIES = 20_000  # of a navigation: aliases in YAML can make it endless
MAX_OPTIONS = 300  # of extensions or plugins, and of one of them
_PYTHON = "tag:yaml.org,2002:python/"


class _Loader(yaml.BaseLoader):
    """All values as text; an object of Python's is the name it has, and what it is called with."""


def _python_object(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    given = loader.construct_mapping(node, deep=True) if isinstance(node, yaml.MappingNode) else {}
    kwds = given.get("kwds")
    return {"python": suffix.partition(":")[2], **(kwds if isinstance(kwds, dict) else {})}


_Loader.add_multi_constructor(_PYTHON, _python_object)


def site(root: Path, request: SourceRequest, named: bool) -> Site | None:
    """The site whose configuration lies in the folder, in its `docs`, or just above it when it is its `docs_dir`."""
    for folder in (root, root / "docs", root.parent):
        file = next((folder / name for name in _FILES if (folder / name).is_file()), None)
        if not file:
            continue
        config = _read(folder if folder == root.parent else root, file)
        docs = (folder / _text(config.get("docs_dir"), "docs")).resolve()
        if folder == root.parent and docs != root.resolve():
            continue
        if not docs.is_relative_to(root.resolve()):
            raise ValueError(f"{file.name}: its docs_dir lies outside the folder that is read")
        return _site(config, root, folder, docs, request)
    return _site({}, root, root, root, request) if named else None


def _site(config: Meta, root: Path, folder: Path, docs: Path, request: SourceRequest) -> Site:
    directories = _text(config.get("use_directory_urls"), "true").lower() != "false"
    extensions = _options(config.get("markdown_extensions"))
    snippets = extensions.get("pymdownx.snippets", {})
    bases = snippets.get("base_path", ["."])
    bases = [base for base in (bases if isinstance(bases, list) else [bases]) if isinstance(base, str)]
    unseen = ignore_rule("\n".join([".*", "/templates/", _text(config.get("exclude_docs"), "")]))
    drafts = ignore_rule(_text(config.get("draft_docs"), ""))

    def address(name: str, front: Meta) -> str:
        place, _, last = stem(name).rpartition("/")
        if last.lower() in ("index", "readme"):
            return f"{place}/" if directories and place else place and f"{place}/index.html"
        bare = f"{place}/{last}".lstrip("/")
        return f"{bare}/" if directories else f"{bare}.html"

    def is_page(name: str) -> bool:
        is_double = name.rpartition("/")[2] == "README.md" and (docs / name).with_name("index.md").exists()
        return not (is_double or unseen(name) or drafts(name))

    return Site(
        "mkdocs",
        (Tree(docs),),
        address,
        is_page,
        _slugs(extensions.get("toc") or extensions.get("markdown.extensions.toc") or {}),
        Includes("mkdocs", root, (*(folder / base for base in bases), folder, docs)),
        dict(_titles(config.get("nav"))),
        tuple(_redirects(config, address, request)),
    )


def _read(root: Path, file: Path) -> Meta:
    text = read_config(root, file)
    try:
        config = yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, RecursionError) as wrong:
        mark = getattr(wrong, "problem_mark", None)
        raise ValueError(f"{file.name} is not YAML{f' (line {mark.line + 1})' if mark else ''}") from None
    if not isinstance(config, dict):
        raise ValueError(f"{file.name} is not a list of names and values")
    return config


def _text(value: Any, default: str) -> str:
    """A setting that is text. `!ENV [NAME, default]` stands for its default."""
    if isinstance(value, list) and len(value) > 1:
        value = value[-1]
    return value if isinstance(value, str) and value else default


def _options(value: Any) -> dict[str, dict[str, Any]]:
    """Extensions or plugins with their options, whether they are a list or a mapping."""
    found: dict[str, dict[str, Any]] = {}
    for item in value[:MAX_OPTIONS] if isinstance(value, list) else [value]:
        if isinstance(item, str):
            found[item] = {}
        elif isinstance(item, dict):
            for name, options in islice(item.items(), MAX_OPTIONS):
                found[str(name)] = options if isinstance(options, dict) else {}
    return found


def _slugs(toc: Meta) -> Slugs:
    """How headings are named, by the `slugify` of the table of contents."""
    separator = _text(toc.get("separator"), "-")
    slugify = toc.get("slugify")
    given: Meta = slugify if isinstance(slugify, Mapping) else {"python": slugify or ""}
    function = _text(given.get("python"), "")
    if "pymdownx" not in function:
        return python_markdown(separator, function.endswith("slugify_unicode"))
    encoded = function.endswith(("_encoded", "gfm_encoded")) or given.get("percent_encode") == "true"
    old = {"uslugify": "lower", "uslugify_encoded": "lower", "gfm": "lower-ascii", "gfm_encoded": "lower-ascii"}
    case = old.get(function.rpartition(".")[2], _text(given.get("case"), "none"))
    forms: dict[str, Form] = {"NFD": "NFD", "NFKC": "NFKC", "NFKD": "NFKD"}
    return pymdownx(separator, case, encoded, forms.get(_text(given.get("normalize"), "NFC"), "NFC"))


def _titles(nav: Any) -> Iterator[tuple[str, Meta]]:
    """The titles of pages in the navigation."""
    waiting: list[tuple[str, Any]] = [("", nav)]
    for _ in range(MAX_ENTRIES):
        if not waiting:
            return
        title, entry = waiting.pop()
        room = MAX_ENTRIES - len(waiting)
        if isinstance(entry, str) and title and "://" not in entry:
            yield stem(entry.lstrip("/")), {"navTitle": title}
        elif isinstance(entry, list):
            waiting += [("", inner) for inner in entry[:room]]
        elif isinstance(entry, dict):
            waiting += [(name, inner) for name, inner in islice(entry.items(), room) if isinstance(name, str)]


def _redirects(config: Meta, address: Any, request: SourceRequest) -> Iterator[PageRedirect]:
    maps = _options(config.get("plugins")).get("redirects", {}).get("redirect_maps")
    for old, new in maps.items() if isinstance(maps, dict) else ():
        if isinstance(old, str) and isinstance(new, str) and "://" not in new:
            target = new.partition("#")[0]
            yield PageRedirect(*(normalize(address(name, {})) if name.endswith(MARKDOWN) else normalize(name)
                          for name in (old, target)))  # fmt: skip
