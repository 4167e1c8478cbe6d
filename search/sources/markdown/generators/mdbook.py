"""mdBook: `book.toml`, and the pages that `SUMMARY.md` lists."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from docsite.core.paths import normalize
from search.sources import PageRedirect, Problem
from search.sources.markdown import configuration
from search.sources.markdown.includes import Includes
from search.sources.markdown.sites import CONFIGURATION, Meta, Site, Tree, as_mapping, remove_ending
from search.sources.markdown.slugs import Slugs
from search.sources.request import SourceRequest
from search.text.markdown.reader import fences

_ENTRY = re.compile(r"\[((?:[^\[\]\\]|\\.){0,300}+)\]\(\s{0,9}<?([^()<>\s]{1,500}+)>?\s{0,9}\)")
_TITLE = re.compile(r"\{\{[ \t]{0,9}#title[ \t]+([^{}\n]{1,500}+)\}\}")
_FENCE = re.compile(r"[`~]{3,}+[ \t]*+([\w+-]*+)")
_HIDELINES = re.compile(r"\bhidelines=([^\s,]++)")
_HIDDEN_RUST = re.compile(r"[\s>]*+#(?: |$)")
_ESCAPED_RUST = re.compile(r"[\s>]*+##")


def detect_site(root: Path, folder: Path | None, request: SourceRequest) -> Site | None:
    """The site, if its `book.toml` is in the folder."""
    if folder is None:
        return _build_site({"book": {"src": "."}}, root, root)
    file = configuration.find(folder, ("book.toml",))
    return _build_site(configuration.load(root, file), root, folder) if file else None


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
    preprocessors = sorted(as_mapping(config.get("preprocessor")).keys() - {"links", "index"})
    is_smart = html.get("smart-punctuation") is not False  # on since mdBook 0.5
    hidden = as_mapping(as_mapping(html.get("code")).get("hidelines"))
    return Site(
        "mdbook",
        (Tree(source, language=str(book.get("language") or "")),),
        address,
        lambda name: name in titles if titles else name != "SUMMARY.md",
        Slugs(f"mdbook {is_smart}", _make_slug, drops_dashes=is_smart),
        includes=Includes("mdbook", root, ()),
        page_metadata={remove_ending(name): {"navTitle": title} for name, title in titles.items()},
        redirects=tuple(_read_redirects(as_mapping(html.get("redirect")))),
        problems=[Problem(CONFIGURATION, f"preprocessor {one} of book.toml is not run here") for one in preprocessors],
        find_title=lambda body: found[1].strip() if (found := _TITLE.search(body)) else "",
        rewrite=partial(_hide_lines, {str(language): str(prefix) for language, prefix in hidden.items()}),
    )


def _hide_lines(prefixes: Mapping[str, str], body: str) -> str:
    """The page without the lines of code that mdBook hides: in Rust those with `# `, else those with a prefix.

    In Rust `##` is a literal `#`. Prefixes are those of the configuration, by language, and of `hidelines=` of a fence.
    """
    lines = body.split("\n")
    kept = lines[:0]
    at = 0
    for first, last in fences(body):
        fence, own = _FENCE.search(lines[first]), _HIDELINES.search(lines[first])
        language = fence[1] if fence else ""
        prefix = own[1] if own else prefixes.get(language)
        is_rust = language == "rust" and not prefix
        kept += lines[at : first + 1]
        for line in lines[first + 1 : last]:
            if is_rust and not _HIDDEN_RUST.match(line):
                kept.append(line.replace("##", "#", 1) if _ESCAPED_RUST.match(line) else line)
            elif not (is_rust or (prefix and line.lstrip(" \t>").startswith(prefix))):
                kept.append(line)
        at = last
    return "\n".join([*kept, *lines[at:]])


def _read_summary(summary: str) -> Iterator[tuple[str, str]]:
    """Yield the file and the title of each page."""
    for title, target in _ENTRY.findall(summary):
        if "://" not in target:
            yield posixpath.normpath(unquote(target.partition("#")[0])), title


def _read_redirects(redirects: Mapping[str, Any]) -> Iterator[PageRedirect]:
    for old, new in redirects.items():
        if isinstance(new, str) and "://" not in new and "#" not in old:  # that of an anchor leaves the page
            target = posixpath.normpath(posixpath.join(posixpath.dirname(old), new.partition("#")[0]))
            yield PageRedirect(normalize(old), normalize(target))


def _make_slug(text: str) -> str:
    return "".join(sign if sign.isalnum() or sign in "-_" else "-" if sign.isspace() else "" for sign in text).lower()
