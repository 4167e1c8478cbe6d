"""mdBook: `book.toml`, and the pages that `SUMMARY.md` lists."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from docsite.core.paths import normalize
from search.sources import PageRedirect
from search.sources.markdown import configuration
from search.sources.markdown.sites import Meta, Site, Tree, as_mapping, remove_ending
from search.sources.markdown.slugs import Slugs
from search.sources.request import SourceRequest

_FOLDERS = ("", "docs", "book", "guide", "doc")
_ENTRY = re.compile(r"\[((?:[^\[\]\\]|\\.){0,300}+)\]\(\s{0,9}<?([^()<>\s]{1,500}+)>?\s{0,9}\)")
_TAG = re.compile(r"(?<!\\)\{\{#\w[^{}\n]{0,500}\}\}")
MAX_REDIRECTS = 5_000


def detect_site(root: Path, request: SourceRequest, is_requested: bool) -> Site | None:
    """The site, if its `book.toml` is in the folder or in one of its usual folders."""
    for folder, file in configuration.find((root / name for name in _FOLDERS), ("book.toml",)):
        return _build_site(configuration.load(root, file), root, folder)
    return _build_site({"book": {"src": "."}}, root, root) if is_requested else None


def _build_site(config: Meta, root: Path, folder: Path) -> Site:
    book = as_mapping(config.get("book"))
    source = configuration.find_inner_folder(root, folder / str(book.get("src") or "src")) or folder
    summary = source / "SUMMARY.md"
    titles = dict(_read_summary(configuration.read_text(root, summary))) if summary.is_file() else {}

    def address(name: str, front: Meta) -> str:
        folder_path, _, last = remove_ending(name).rpartition("/")
        if last.lower() in ("index", "readme"):
            return folder_path and f"{folder_path}/"
        return f"{remove_ending(name)}.html"

    html = as_mapping(as_mapping(config.get("output")).get("html"))
    is_smart = html.get("smart-punctuation") is not False  # on since mdBook 0.5
    return Site(
        "mdbook",
        (Tree(source, language=str(book.get("language") or "")),),
        address,
        lambda name: name in titles if titles else name != "SUMMARY.md",
        Slugs(f"mdbook {is_smart}", _make_slug, drops_dashes=is_smart),
        page_metadata={remove_ending(name): {"navTitle": title} for name, title in titles.items()},
        redirects=tuple(_read_redirects(as_mapping(html.get("redirect")))),
        rewrite=lambda body: _TAG.sub("", body) if "{{#" in body else body,
    )


def _read_summary(summary: str) -> Iterator[tuple[str, str]]:
    """Yield the file and the title of each page."""
    for title, target in _ENTRY.findall(summary):
        if "://" not in target:
            yield posixpath.normpath(unquote(target.partition("#")[0])), title


def _read_redirects(redirects: Mapping[str, Any]) -> Iterator[PageRedirect]:
    for old, new in list(redirects.items())[:MAX_REDIRECTS]:
        if isinstance(new, str) and "://" not in new:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(old), new.partition("#")[0]))
            yield PageRedirect(normalize(old), normalize(target))


def _make_slug(text: str) -> str:
    return "".join(sign if sign.isalnum() or sign in "-_" else "-" if sign.isspace() else "" for sign in text).lower()
