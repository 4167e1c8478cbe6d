"""Read the pages of a Sphinx project, at the addresses of its site."""

import posixpath
import re
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

from docsite.core.paths import normalize
from docsite.core.unicode.addresses import urlsplit
from search.sources import Draft, ExcludedPage, Item, Page, PageRedirect, UnreadablePage, compute_digest, myst, rst
from search.sources.files import MARKDOWN, list_files, quote_path, read_text_in_folder, read_text_or_nothing
from search.sources.markdown.front_matter import MAX_WORDS, get_groups, get_words
from search.sources.markdown.sites import compile_ignore_rules
from search.sources.myst import links
from search.sources.myst.outline import Outline
from search.sources.request import SourceRequest
from search.sources.rst.includes import find_includes, read_text
from search.sources.rst.scope import MAX_INCLUDES
from search.sources.rst.site import MAX_BYTES, MAX_TITLE, Site, Target, find_labels, find_title, resolve_path
from search.sources.sphinx.conf import Conf, find_folder, load_conf

_OTHER_CONFIGS = (
    *("mkdocs.yml", "mkdocs.yaml", "docs.json", "mint.json", "docusaurus.config.js", "docusaurus.config.ts"),
    *("book.toml", "hugo.toml", "hugo.yaml", "_config.yml", "astro.config.mjs"),
)
_SKIPPED_FOLDERS = frozenset(["_build", "_templates", "_themes", "_static", "node_modules", "__pycache__"])
_BUILDER = re.compile(r"^[ \t]*builder:[ \t]*[\"']?(?:sphinx_html)?dirhtml", re.MULTILINE)
_FALSE = ("false", "0", "no")


def recognizes(request: SourceRequest) -> bool:
    """Whether the location is a Sphinx project, according to the request or to its files.

    It is one if it has a conf.py of Sphinx, or mostly reStructuredText and no other generator.
    """
    if not request.folder or request.manifest:
        return False
    if request.generator:
        return request.generator == "sphinx"
    has_other = any((request.folder / name).is_file() for name in _OTHER_CONFIGS)
    is_project = find_folder(request.folder, is_thorough=not has_other) is not None
    if is_project or has_other:
        return is_project
    endings = [Path(name).suffix for name in list_files(request.folder, _SKIPPED_FOLDERS)]
    return endings.count(".rst") > sum(endings.count(ending) for ending in (*MARKDOWN, ".html"))


def read(request: SourceRequest) -> Iterator[Item]:
    """All pages, and the redirects of conf.py. No code of the project is run."""
    request.progress("generator: sphinx")
    root = Path(request.location)
    folder = find_folder(root) or root
    conf = load_conf(folder, root)
    texts: dict[str, str] = {}
    for file in _files(folder, conf):
        try:
            quote_path(file)  # each page may become a link
            texts[file] = read_text_in_folder(folder, folder / file, MAX_BYTES)
        except ValueError as error:
            yield UnreadablePage(file, str(error), normalize(posixpath.splitext(file)[0]))
    site = _make_site(root, folder, conf, texts)
    dirhtml = _is_dirhtml(root)
    for file, text in texts.items():
        name = posixpath.splitext(file)[0]
        sources = ["\n\n".join((site.prolog, text, site.epilog)), *_included_texts(text, name, site)]
        targets = [target for source in sources for target in site.link_targets(source, name)]
        if file.endswith(MARKDOWN):
            targets += [target for source in sources for target in links.link_targets(source, site, name)]
        digest = compute_digest(f"{conf.digest} {dirhtml}", name, *sources, *targets)
        address = _address(name, conf, dirhtml)
        make = partial(_make_page, file, text, site, conf.get_text("language"), address)
        yield Draft(file, normalize(name), digest, make, address)
    yield from _redirects(conf)


def _make_page(file: str, source: str, site: Site, language: str, address: str) -> Page | UnreadablePage | ExcludedPage:
    name = posixpath.splitext(file)[0]
    path = normalize(name)
    try:
        converted = myst.convert(source, site, name) if file.endswith(MARKDOWN) else rst.convert(source, site, name)
        meta = dict(converted.meta)
        groups, keywords = get_groups(meta), get_words(meta, "keywords")[:MAX_WORDS]
    except ValueError as error:  # of front matter
        return UnreadablePage(file, str(error), path)
    if meta.get("nosearch", "false").lower() not in _FALSE:
        return ExcludedPage(file, "says :nosearch:")
    return Page(
        origin=file,
        path=path,
        markdown=converted.markdown,
        title=site.titles.get(name, ""),
        description=meta.get("description", ""),
        language=language,
        keywords=keywords,
        address=address,
        groups=groups,
        problems=converted.problems,
        anchors=tuple(target.anchor for target in site.labels.values() if target.page == name),
    )


def _make_site(root: Path, folder: Path, conf: Conf, texts: dict[str, str]) -> Site:
    titles: dict[str, str] = {}
    labels: dict[str, Target] = {}
    headings: dict[str, dict[str, Target]] = {}
    smart_quotes = "smartquotes" in conf.get_list("myst_enable_extensions")
    depth = conf.values.get("myst_heading_anchors")
    for file, text in texts.items():
        name = posixpath.splitext(file)[0]
        page_labels = dict(find_labels(text, name))  # in MyST those of `eval-rst`
        titles[name] = find_title(text)
        if file.endswith(MARKDOWN):
            outline = Outline(text, name, smart_quotes)
            titles[name] = outline.title
            headings[name] = outline.slugs(depth if isinstance(depth, int) else 0)
            page_labels |= outline.labels
        for label, target in page_labels.items():
            labels.setdefault(label, target)
    for name, title in (("genindex", "Index"), ("modindex", "Module Index"), ("search", "Search Page")):
        labels.setdefault(name, Target(name, "", title))
    extlinks = {
        role: (value[0][:MAX_TITLE], (value[1] or "")[:MAX_TITLE])
        for role, value in conf.get_dict("extlinks").items()
        if isinstance(value, list) and len(value) == 2 and all(isinstance(one or "", str) for one in value) and value[0]
    }
    highlight = conf.get_text("highlight_language")
    return Site(
        root=folder,
        include_root=root,
        titles=titles,
        labels=labels,
        headings=headings,
        extlinks=extlinks,
        object_types=conf.object_types,
        crossref_types=conf.crossref_types,
        highlight="" if highlight in ("default", "none") else highlight,
        default_role=conf.get_text("default_role"),
        prolog="\n".join([*_version_substitutions(conf), conf.get_text("rst_prolog")]).strip(),
        epilog=conf.get_text("rst_epilog"),
        smart_quotes=smart_quotes,
    )


def _version_substitutions(conf: Conf) -> Iterator[str]:
    """The definitions of `|version|` and `|release|`, which Sphinx adds."""
    release = conf.get_text("release")[:MAX_TITLE]
    for name, text in (("release", release), ("version", conf.get_text("version")[:MAX_TITLE] or release)):
        if text:
            escaped = re.sub(r"([^0-9A-Za-z. ])", r"\\\1", " ".join(text.split()))
            yield f".. |{name}| replace:: {escaped}"


def _files(folder: Path, conf: Conf) -> Iterator[str]:
    """The files that are pages, by their paths from the folder with conf.py."""
    endings = tuple(conf.get_list("source_suffix")) or (".rst",)
    if any(name.startswith("myst") for name in conf.get_list("extensions")):
        endings = (*endings, ".md")
    is_excluded = compile_ignore_rules("\n".join(f"/{one.strip('/')}" for one in conf.get_list("exclude_patterns")))
    return (name for name in list_files(folder, _SKIPPED_FOLDERS) if name.endswith(endings) and not is_excluded(name))


def _included_texts(text: str, name: str, site: Site) -> Iterator[str]:
    """The texts of the files that a page includes, directly or through other files."""
    queue = [(text, name)]
    files: set[Path] = set()
    while queue and len(files) < MAX_INCLUDES:
        source, includer = queue.pop()
        # In MyST a path is relative to the page.
        for reference, base in product(find_includes(source), dict.fromkeys((includer, name))):
            file = site.find_include(reference, base)
            if file and file not in files:
                files.add(file)
                included = read_text(site, reference, base)
                yield included
                queue.append((included, resolve_path(reference, base)))


def _is_dirhtml(root: Path) -> bool:
    """Whether each page has the address of a folder, according to the settings of Read the Docs."""
    names = (".readthedocs.yaml", ".readthedocs.yml", "readthedocs.yml")
    return any(_BUILDER.search(read_text_or_nothing(root, root / name)) for name in names)


def _address(name: str, conf: Conf, dirhtml: bool) -> str:
    """The address of a page on the site. It keeps `guide/index.html`, because Sphinx links to that."""
    if name == "index":
        return ""
    if dirhtml:
        return f"{name.removesuffix('/index')}/"
    return name + (conf.get_text("html_link_suffix") or conf.get_text("html_file_suffix") or ".html")


def _redirects(conf: Conf) -> Iterator[PageRedirect]:
    """The redirects of sphinx-reredirects that stay on the site."""
    for page, target in conf.get_dict("redirects").items():
        if isinstance(target, str) and not urlsplit(target).scheme and not re.search(r"[*?\[]", page):
            path = posixpath.join(posixpath.dirname(f"/{page}"), target)
            yield PageRedirect(normalize(page), normalize(posixpath.normpath(path)))
