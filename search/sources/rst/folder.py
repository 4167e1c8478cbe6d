"""A folder of reStructuredText as Sphinx builds a site of it; MyST Markdown may stand among it."""

import posixpath
import re
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from docsite.core.paths import normalize
from search.sources import Bad, Draft, Item, LeftOut, Moved, Page, digest_of, rst
from search.sources.files import MARKDOWN, names_below, quoted, text_inside
from search.sources.markdown.front_matter import front_matter
from search.sources.request import SourceRequest
from search.sources.rst import conf as configuration
from search.sources.rst import myst, myst_links
from search.sources.rst.conf import Conf
from search.sources.rst.includes import named_in, place_of, text_at
from search.sources.rst.myst_outline import outline, slugs
from search.sources.rst.scope import MOST_INCLUDED
from search.sources.rst.site import MOST_BYTES, MOST_TITLE, Site, Target, labels_of, title_of

_OTHERS = ("mkdocs.yml", "mkdocs.yaml", "docs.json", "mint.json", "docusaurus.config.js", "docusaurus.config.ts")
_NO_PAGES = frozenset(["_build", "_templates", "_themes", "_static", "node_modules", "__pycache__"])
_BUILDER = re.compile(r"^[ \t]*builder:[ \t]*[\"']?(?:sphinx_html)?dirhtml", re.MULTILINE)
_OFF = ("false", "0", "no")


def recognizes(request: SourceRequest) -> bool:
    """Whether the location is a folder for Sphinx, as the request says or its files show."""
    if not request.folder or request.manifest:
        return False
    return request.generator == "sphinx" or (not request.generator and is_sphinx(request.folder))


def read(request: SourceRequest) -> Iterator[Item]:
    """The pages of the folder and its redirects."""
    return read_folder(Path(request.location), request)


def is_sphinx(root: Path) -> bool:
    """Whether a folder is a Sphinx project, or pages of reStructuredText that are nobody else's."""
    if configuration.folder_of(root):
        return True
    if any((root / name).is_file() for name in _OTHERS):
        return False
    endings = [Path(name).suffix for name in names_below(root, _NO_PAGES)]
    return endings.count(".rst") > sum(endings.count(ending) for ending in (*MARKDOWN, ".html"))


def read_folder(root: Path, request: SourceRequest | None = None) -> Iterator[Item]:
    """Every page, and the redirects of conf.py, which is never run."""
    folder = configuration.folder_of(root) or root
    conf = configuration.read(folder, root)
    names = {posixpath.splitext(file)[0]: file for file in _sources(folder, conf)}
    texts: dict[str, str] = {}
    for name, file in names.items():
        text = _text(folder, file)
        if isinstance(text, Bad):
            yield text
        else:
            texts[name] = text
    site = _site(root, folder, conf, texts, names)
    dirhtml = _is_dirhtml(root)
    told = f"{conf.digest} {dirhtml}"
    for name, text in texts.items():
        path = normalize(name)
        own = "\n\n".join((site.prolog, text, site.epilog))
        whole = [own, *_included(own, name, site)]
        referred = [there for one in whole for there in site.referred(one, name)]
        if names[name].endswith(MARKDOWN):
            referred += [there for one in whole for there in myst_links.referred(one, site, name)]
        digest = digest_of(told, name, *whole, *referred)
        make = partial(_page, names[name], name, text, site, conf, _address(name, conf, dirhtml))
        yield Draft(names[name], path, digest, make)
    yield from _moved(conf)


def _page(origin: str, name: str, source: str, site: Site, conf: Conf, address: str) -> Page | Bad | LeftOut:
    if origin.endswith(MARKDOWN):
        return _of_markdown(origin, name, source, site, conf, address)
    text = rst.read(source, site, name)
    meta = text.meta
    if meta.get("nosearch", "false").lower() not in _OFF:
        return LeftOut(origin, "says :nosearch:")
    keywords = tuple(dict.fromkeys(word.strip()[:100] for word in meta.get("keywords", "").split(",") if word.strip()))
    return Page(
        origin=origin,
        path=normalize(name),
        markdown=text.markdown,
        title=site.titles.get(name, ""),
        description=meta.get("description", ""),
        language=conf.text("language"),
        keywords=keywords[:100],
        address=address,
    )


def _of_markdown(origin: str, name: str, source: str, site: Site, conf: Conf, address: str) -> Page | Bad | LeftOut:
    """A page in MyST; its front matter is for Sphinx, so that only what describes the page is taken."""
    path = normalize(name)
    try:
        front, body = front_matter(source)
    except ValueError as wrong:
        return Bad(origin, str(wrong), path)
    if "nosearch" in front:
        return LeftOut(origin, "says nosearch")
    description = _description(front)
    markdown = myst.to_markdown(body, site, name)
    return Page(origin, path, markdown, description=description, language=conf.text("language"), address=address)


def _description(front: dict[str, Any]) -> str:
    """What the front matter says of the page: as most have it, or as MyST has it for HTML."""
    own = front.get("myst")
    meta = own.get("html_meta") if isinstance(own, dict) else None
    for told in (front.get("description"), meta.get("description") if isinstance(meta, dict) else None):
        if isinstance(told, str):
            return told
    return ""


def _site(root: Path, folder: Path, conf: Conf, texts: dict[str, str], names: dict[str, str]) -> Site:
    titles: dict[str, str] = {}
    labels: dict[str, Target] = {}
    headings: dict[str, dict[str, Target]] = {}
    smart = "smartquotes" in conf.texts("myst_enable_extensions")
    depth = conf.values.get("myst_heading_anchors")
    for name, text in texts.items():
        titles[name] = title_of(text)
        if names[name].endswith(MARKDOWN):
            found = list(outline(text, smart))
            titles[name] = next((heading.text for heading in found if heading.level), "")
            for heading in found:
                for label in heading.labels:
                    labels.setdefault(" ".join(label.lower().split()), Target(name, heading.anchor, heading.text))
            named = slugs(found, depth if isinstance(depth, int) else 0)
            headings[name] = {one: Target(name, heading.anchor, heading.text) for one, heading in named.items()}
        for label, target in labels_of(text, name):
            labels.setdefault(label, target)
    for label, page in (("genindex", "Index"), ("modindex", "Module Index"), ("search", "Search Page")):
        labels.setdefault(label, Target(label, "", page))
    release = conf.text("release")[:MOST_TITLE]
    return Site(
        root=folder,
        bounds=root,
        titles=titles,
        labels=labels,
        headings=headings,
        smart=smart,
        extlinks={
            name: (value[0][:MOST_TITLE], value[1][:MOST_TITLE] if len(value) > 1 and isinstance(value[1], str) else "")
            for name, value in conf.pairs("extlinks").items()
            if isinstance(value, list) and value and isinstance(value[0], str)
        },
        substitutions={
            name: text
            for name, text in (("release", release), ("version", conf.text("version")[:MOST_TITLE] or release))
            if text
        },
        objects=conf.objects,
        targets=conf.targets,
        highlight="" if conf.text("highlight_language") in ("default", "none") else conf.text("highlight_language"),
        default_role=conf.text("default_role"),
        prolog=conf.text("rst_prolog"),
        epilog=conf.text("rst_epilog"),
    )


def _sources(folder: Path, conf: Conf) -> Iterator[str]:
    """The files that are pages, by path from the folder with conf.py on."""
    endings = tuple(conf.texts("source_suffix")) or (".rst",)
    if any(name.startswith("myst") for name in conf.texts("extensions")):
        endings = (*endings, ".md")
    excluded = [_pattern(pattern) for pattern in conf.texts("exclude_patterns")]
    for file in names_below(folder, _NO_PAGES):
        if file.endswith(endings):
            parts = file.split("/")
            places = ["/".join(parts[: end + 1]) for end in range(len(parts))]
            if not any(pattern.fullmatch(place) for pattern in excluded for place in places):
                yield file


def _pattern(pattern: str) -> re.Pattern[str]:
    """A pattern of `exclude_patterns`, in which `**` goes through folders."""
    pieces = re.split(r"(\*\*/?|\*|\?|\[[^\]]+\])", pattern.rstrip("/"))
    written = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    try:
        return re.compile(
            "".join(
                written.get(piece) or (piece.replace("[!", "[^") if piece[:1] == "[" else re.escape(piece))
                for piece in pieces
            )
        )
    except re.error:
        return re.compile(re.escape(pattern))


def _text(folder: Path, name: str) -> str | Bad:
    file = folder / name
    path = normalize(posixpath.splitext(name)[0])
    try:
        quoted(name)  # every file may become a link
        return text_inside(folder, file, MOST_BYTES)
    except ValueError as wrong:
        return Bad(name, str(wrong), path)


def _included(text: str, name: str, site: Site) -> Iterator[str]:
    """The texts that a page includes, and those that these include."""
    waiting = [(text, name)]
    seen: set[Path] = set()
    while waiting and len(seen) < MOST_INCLUDED:
        source, around = waiting.pop()
        for reference, beside in product(named_in(source), dict.fromkeys((around, name))):  # in MyST beside the page
            file = site.included(reference, beside)
            if file and file not in seen:
                seen.add(file)
                more = text_at(site, reference, beside)
                yield more
                waiting.append((more, place_of(reference, beside)))


def _is_dirhtml(root: Path) -> bool:
    """Whether pages are folders on the site, as Read the Docs is told."""
    for name in (".readthedocs.yaml", ".readthedocs.yml", "readthedocs.yml"):
        try:
            return bool(_BUILDER.search(text_inside(root, root / name)))
        except ValueError:
            continue
    return False


def _address(name: str, conf: Conf, dirhtml: bool) -> str:
    """Where the site shows a page. Sphinx itself links to `guide/index.html`, so that is what readers see."""
    if name == "index":
        return ""
    if dirhtml:
        return f"{name.removesuffix('/index')}/"
    ending = conf.text("html_link_suffix") or conf.text("html_file_suffix") or ".html"
    return name + ending


def _moved(conf: Conf) -> Iterator[Moved]:
    """The redirects of sphinx-reredirects that stay on the site."""
    for page, target in conf.pairs("redirects").items():
        if isinstance(target, str) and not urlsplit(target).scheme and not re.search(r"[*?\[]", page):
            place = posixpath.join(posixpath.dirname(f"/{page}"), target)
            yield Moved(normalize(page), normalize(posixpath.normpath(place)))
