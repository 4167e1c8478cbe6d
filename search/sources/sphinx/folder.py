"""The pages of a Sphinx project, where its site has them."""

import posixpath
import re
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

from docsite.core.paths import normalize
from search.sources import Draft, ExcludedPage, Item, Page, PageRedirect, UnreadablePage, compute_digest, myst, rst
from search.sources.files import MARKDOWN, list_files, quote_path, read_text_in_folder
from search.sources.myst import links
from search.sources.myst.outline import Outline
from search.sources.request import SourceRequest
from search.sources.rst.includes import includes_in, text_of
from search.sources.rst.scope import MAX_INCLUDES
from search.sources.rst.site import MAX_BYTES, MAX_TITLE, Site, Target, labels_of, place_of, title_of
from search.sources.sphinx import conf as configuration
from search.sources.sphinx.conf import Conf

_OTHERS = ("mkdocs.yml", "mkdocs.yaml", "docs.json", "mint.json", "docusaurus.config.js", "docusaurus.config.ts")
_NO_PAGES = frozenset(["_build", "_templates", "_themes", "_static", "node_modules", "__pycache__"])
_BUILDER = re.compile(r"^[ \t]*builder:[ \t]*[\"']?(?:sphinx_html)?dirhtml", re.MULTILINE)
_OFF = ("false", "0", "no")
_WILDCARDS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def recognizes(request: SourceRequest) -> bool:
    """Whether the location is a folder for Sphinx, as the request says or its files show."""
    if not request.folder or request.manifest:
        return False
    return request.generator == "sphinx" or (not request.generator and is_sphinx(request.folder))


def read(request: SourceRequest) -> Iterator[Item]:
    """The pages of the folder and its redirects."""
    return read_folder(Path(request.location), request)


def is_sphinx(root: Path) -> bool:
    """Whether a folder is a Sphinx project, or has mostly reStructuredText and no other generator."""
    if configuration.find_folder(root):
        return True
    if any((root / name).is_file() for name in _OTHERS):
        return False
    endings = [Path(name).suffix for name in list_files(root, _NO_PAGES)]
    return endings.count(".rst") > sum(endings.count(ending) for ending in (*MARKDOWN, ".html"))


def read_folder(root: Path, request: SourceRequest | None = None) -> Iterator[Item]:
    """Every page, and the redirects of conf.py, which is never run."""
    folder = configuration.find_folder(root) or root
    conf = configuration.read(folder, root)
    texts: dict[str, str] = {}
    for file in _files(folder, conf):
        try:
            quote_path(file)  # every file may become a link
            texts[file] = read_text_in_folder(folder, folder / file, MAX_BYTES)
        except ValueError as wrong:
            yield UnreadablePage(file, str(wrong), normalize(posixpath.splitext(file)[0]))
    site = _site(root, folder, conf, texts)
    dirhtml = _is_dirhtml(root)
    for file, text in texts.items():
        name = posixpath.splitext(file)[0]
        whole = ["\n\n".join((site.prolog, text, site.epilog)), *_included(text, name, site)]
        referred = [there for one in whole for there in site.referred(one, name)]
        if file.endswith(MARKDOWN):
            referred += [there for one in whole for there in links.referred(one, site, name)]
        digest = compute_digest(f"{conf.digest} {dirhtml}", name, *whole, *referred)
        address = _address(name, conf, dirhtml)
        yield Draft(file, normalize(name), digest, partial(_page, file, text, site, conf.text("language"), address))
    yield from _moved(conf)


def _page(file: str, source: str, site: Site, language: str, address: str) -> Page | UnreadablePage | ExcludedPage:
    name = posixpath.splitext(file)[0]
    path = normalize(name)
    try:
        text = myst.read(source, site, name) if file.endswith(MARKDOWN) else rst.read(source, site, name)
    except ValueError as wrong:  # of front matter
        return UnreadablePage(file, str(wrong), path)
    meta = text.meta
    if meta.get("nosearch", "false").lower() not in _OFF:
        return ExcludedPage(file, "says :nosearch:")
    words = [word.strip()[:100] for word in meta.get("keywords", "").split(",")]
    return Page(
        origin=file,
        path=path,
        markdown=text.markdown,
        title=site.titles.get(name, ""),
        description=meta.get("description", ""),
        language=language,
        keywords=tuple(dict.fromkeys(filter(None, words)))[:100],
        address=address,
    )


def _site(root: Path, folder: Path, conf: Conf, texts: dict[str, str]) -> Site:
    titles: dict[str, str] = {}
    labels: dict[str, Target] = {}
    headings: dict[str, dict[str, Target]] = {}
    smart = "smartquotes" in conf.texts("myst_enable_extensions")
    depth = conf.values.get("myst_heading_anchors")
    for file, text in texts.items():
        name = posixpath.splitext(file)[0]
        found = dict(labels_of(text, name))  # in MyST those of `eval-rst`
        titles[name] = title_of(text)
        if file.endswith(MARKDOWN):
            outline = Outline(text, name, smart)
            titles[name] = outline.title
            headings[name] = outline.slugs(depth if isinstance(depth, int) else 0)
            found |= outline.labels
        for label, target in found.items():
            labels.setdefault(label, target)
    for name, title in (("genindex", "Index"), ("modindex", "Module Index"), ("search", "Search Page")):
        labels.setdefault(name, Target(name, "", title))
    extlinks = {
        role: (value[0][:MAX_TITLE], (value[1] or "")[:MAX_TITLE])
        for role, value in conf.pairs("extlinks").items()
        if isinstance(value, list) and len(value) == 2 and all(isinstance(one or "", str) for one in value) and value[0]
    }
    highlight = conf.text("highlight_language")
    return Site(
        root=folder,
        bounds=root,
        titles=titles,
        labels=labels,
        headings=headings,
        extlinks=extlinks,
        objects=conf.objects,
        targets=conf.targets,
        highlight="" if highlight in ("default", "none") else highlight,
        default_role=conf.text("default_role"),
        prolog="\n".join([*_versions(conf), conf.text("rst_prolog")]).strip(),
        epilog=conf.text("rst_epilog"),
        smart=smart,
    )


def _versions(conf: Conf) -> Iterator[str]:
    """The definitions of `|version|` and `|release|`, as Sphinx has them."""
    release = conf.text("release")[:MAX_TITLE]
    for name, text in (("release", release), ("version", conf.text("version")[:MAX_TITLE] or release)):
        if text:
            escaped = re.sub(r"([^0-9A-Za-z. ])", r"\\\1", " ".join(text.split()))
            yield f".. |{name}| replace:: {escaped}"


def _files(folder: Path, conf: Conf) -> Iterator[str]:
    """The files that are pages, by path from the folder with conf.py."""
    endings = tuple(conf.texts("source_suffix")) or (".rst",)
    if any(name.startswith("myst") for name in conf.texts("extensions")):
        endings = (*endings, ".md")
    excluded = [_pattern(pattern) for pattern in conf.texts("exclude_patterns")]
    for file in list_files(folder, _NO_PAGES):
        places = [file[: slash.start()] for slash in re.finditer("/|$", file)]
        if file.endswith(endings) and not any(one.fullmatch(place) for one in excluded for place in places):
            yield file


def _pattern(pattern: str) -> re.Pattern[str]:
    """A pattern of `exclude_patterns`, in which `**` goes through folders."""
    pieces = re.split(r"(\*\*/?|\*|\?)", pattern.rstrip("/"))
    return re.compile("".join(_WILDCARDS.get(piece) or re.escape(piece) for piece in pieces))


def _included(text: str, name: str, site: Site) -> Iterator[str]:
    """The texts that a page includes, and those that these include."""
    waiting = [(text, name)]
    seen: set[Path] = set()
    while waiting and len(seen) < MAX_INCLUDES:
        source, around = waiting.pop()
        for reference, beside in product(includes_in(source), dict.fromkeys((around, name))):  # MyST: beside the page
            file = site.included(reference, beside)
            if file and file not in seen:
                seen.add(file)
                more = text_of(site, reference, beside)
                yield more
                waiting.append((more, place_of(reference, beside)))


def _is_dirhtml(root: Path) -> bool:
    """Whether each page is a folder on the site, according to the settings of Read the Docs."""
    for name in (".readthedocs.yaml", ".readthedocs.yml", "readthedocs.yml"):
        try:
            return bool(_BUILDER.search(read_text_in_folder(root, root / name)))
        except ValueError:
            continue
    return False


def _address(name: str, conf: Conf, dirhtml: bool) -> str:
    """Where the site shows a page. Sphinx itself links to `guide/index.html`, so readers see that."""
    if name == "index":
        return ""
    if dirhtml:
        return f"{name.removesuffix('/index')}/"
    return name + (conf.text("html_link_suffix") or conf.text("html_file_suffix") or ".html")


def _moved(conf: Conf) -> Iterator[PageRedirect]:
    """The redirects of sphinx-reredirects that stay on the site."""
    for page, target in conf.pairs("redirects").items():
        if isinstance(target, str) and not urlsplit(target).scheme and not re.search(r"[*?\[]", page):
            place = posixpath.join(posixpath.dirname(f"/{page}"), target)
            yield PageRedirect(normalize(page), normalize(posixpath.normpath(place)))
