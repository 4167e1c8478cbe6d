"""Read a folder of Markdown and MDX files: all of them as a generator renders them, or those in a manifest."""

import json
import re
import reprlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from docsite.core.paths import normalize
from search.sources import Draft, ExcludedPage, Item, Page, PageRedirect, Problem, UnreadablePage, compute_digest
from search.sources.files import MARKDOWN, list_files, quote_path, read_text_in_folder, read_text_or_nothing
from search.sources.markdown import generators, other_formats
from search.sources.markdown.front_matter import (
    collect_fields,
    find_exclusion,
    get_former_paths,
    split_front_matter,
)
from search.sources.markdown.mdx import to_markdown
from search.sources.markdown.sites import Site, Tree
from search.sources.markdown.slugs import add_anchors
from search.sources.request import SourceRequest
from search.text.markdown.reader import fenced_lines, title_of

FORMATS = (*(ending[1:] for ending in MARKDOWN), *other_formats.FORMATS)  # values of `format` in a manifest
_OPERATION = re.compile(r"(?i)(?:^|\s)(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|WEBHOOK)\s+(\S+)\s*$")
OTHER_FORMAT = ", which is not read here: read the built site"
_OTHER_FORMATS = {
    **{"adoc": "AsciiDoc", "asciidoc": "AsciiDoc", "rst": "reStructuredText", "org": "Org", "textile": "Textile"},
    **{"ipynb": "a notebook", "mediawiki": "MediaWiki"},
}
_HEAD = re.compile(r"(?m)^<[Hh]ead>[^`]{0,2000}?\bnoindex\b")
_COMMENT_ID = re.compile(r"(?m)^(#{1,6}[ \t][^\n{]*+)\{/\*?#?([\w:.-]{1,200}+)\*?/\}[ \t]*+$")  # as on React's site
_SHORT_TITLES = ("navTitle", "sidebarTitle", "sidebar_label")  # MkDocs's, Mintlify's and Docusaurus's


class _SourceFile(NamedTuple):
    """A file to read: its name in the tree, and from a manifest the path, the address and the metadata of its page."""

    name: str
    path: str
    address: str
    manifest_entry: dict[str, Any]


def recognizes(request: SourceRequest) -> bool:
    """Whether the location is a folder. Readers of other folders come before this one."""
    return request.folder is not None


def read(request: SourceRequest) -> Iterator[Item]:
    """The pages in the folder, or those in the request's manifest."""
    root = Path(request.location)
    return read_manifest(root, request.manifest, request) if request.manifest else read_folder(root, request)


def read_folder(root: Path, request: SourceRequest | None = None) -> Iterator[Item]:
    """The pages of all Markdown and MDX files in a folder that its generator renders. Hidden files are left out.

    Raises ValueError with a sentence when the generator's configuration cannot be read.
    """
    request = request or SourceRequest(str(root), "")
    site = generators.detect_site(root, request)
    request.progress(f"generator: {site.generator}")
    yield from site.redirects
    yield from site.problems
    for tree in site.trees:
        for name in list_files(tree.folder):
            origin = _name_origin(root, tree, name)
            ending = name.lower().rpartition(".")[2]
            if ending in _OTHER_FORMATS:
                yield ExcludedPage(origin, f"is {_OTHER_FORMATS[ending]}{OTHER_FORMAT}")
            elif ending == "html" and site.generator in ("hugo", "jekyll") and site.is_page(name):
                if read_text_or_nothing(root, tree.folder / name).startswith(("---", "+++")):  # else it is copied
                    yield ExcludedPage(origin, f"is HTML{OTHER_FORMAT}")
            elif name.lower().endswith(MARKDOWN) and site.is_page(name):
                yield from _read_file(root, tree, site, _SourceFile(name, "", "", {}), request)


def _name_origin(root: Path, tree: Tree, name: str) -> str:
    """The name of a file as messages say it: its path in the folder that is read."""
    file = tree.folder / name
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else name


def read_manifest(root: Path, manifest: Path, request: SourceRequest | None = None) -> Iterator[Item]:
    """The pages in a JSON-lines manifest with the fields `path, file, format, title, language, version, tags`.

    The format is one of `FORMATS`. Without it, the file's ending decides; unknown endings are Markdown. Pages have the
    manifest's paths, and GitHub's anchors unless the request names a generator.
    """
    request = request or SourceRequest(str(root), "")
    request = request if request.generator else replace(request, generator="plain")
    site = generators.detect_site(root, request)
    tree = Tree(root)
    with manifest.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            origin = f"{manifest.name} line {number}"
            try:
                item = json.loads(line)
            except (ValueError, RecursionError):
                yield UnreadablePage(origin, "not JSON")
                continue
            if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in ("path", "file")):
                yield UnreadablePage(origin, "needs `path` and `file`, both text")
                continue
            path = normalize(item["path"])
            format_name = item.get("format")
            if format_name and not (isinstance(format_name, str) and format_name in FORMATS):
                printable = format_name if isinstance(format_name, str) else reprlib.repr(format_name)
                yield UnreadablePage(item["file"], f"format {printable[:20]} is not known", path)
                continue
            address = site.address(f"{item['path'].strip('/')}.md", {}) or ""
            yield from _read_file(root, tree, site, _SourceFile(item["file"], path, address, item), request)


def _read_file(root: Path, tree: Tree, site: Site, source: _SourceFile, request: SourceRequest) -> Iterator[Item]:
    """The items of one file. Metadata of the manifest wins over the front matter, which wins over the navigation."""
    file = tree.folder / source.name
    origin = _name_origin(root, tree, source.name)
    file_path = ""
    problems: list[Problem] = []
    try:
        file_path = normalize(quote_path(f"{tree.base}/{source.name}"))
        ending = source.name.rpartition(".")[2].lower()
        kind = (
            source.manifest_entry.get("format") or (other_formats.ENDINGS.get(ending) if source.path else "") or ending
        )
        text = read_text_in_folder(root, file)
        front, body = ({}, text) if kind in other_formats.FORMATS else split_front_matter(text, problems)
        kind = "mdx" if kind in ("md", "markdown") and site.is_mdx(front) else kind
        titled = {"title": title_of(body), **front} if site.uses_title and "title" not in front else front
        relative = site.address(source.name, titled)
        page_address = "" if relative is None else quote_path(f"{tree.base}/{relative}".lstrip("/"))
        meta = {
            "version": tree.version,
            "language": tree.language or site.find_language(page_address),
            **_drop_empty(site.find_metadata(file, source.name)),
            **_drop_empty({"title": site.find_title(body)}),
            **_drop_empty(front),
            **_drop_empty(source.manifest_entry),
        }
        fields = _collect_fields(meta, body, () if site.generator == "plain" else _SHORT_TITLES, problems)
    except ValueError as wrong:
        yield UnreadablePage(origin, str(wrong), source.path or file_path)
        return
    if not source.path:  # what a manifest lists is wanted
        reason = site.find_exclusion(source.name, meta) or ("says noindex" if _says_noindex(body) else "")
        if exclusion := find_exclusion(meta, origin) or (ExcludedPage(origin, reason) if reason else None):
            yield exclusion
            return
    address = source.address if source.path else page_address
    path = source.path or (file_path if relative is None else normalize(address))
    body = site.includes.expand(body, file, problems) if site.includes else body
    body = site.expand(body, meta, problems) if site.expand else body
    rules = f"{site.generator} {site.slugs and site.slugs.name}"
    digest_parts = [rules, kind, path, address, fields, _find_operation(meta), body]
    page = Page(origin, path, body, address="" if f"/{address}" == quote_path(path) else address, **fields)
    page = replace(page, problems=tuple(problems))
    build: Callable[[], Page | UnreadablePage | ExcludedPage]
    if kind == "html":
        build = partial(other_formats.build_html_page, page, f"{request.docs_url.rstrip('/')}/{address or path[1:]}")
    elif kind == "rst":
        build = partial(other_formats.build_rst_page, page, root, source.name)
    else:
        build = partial(_build_page, page, kind == "mdx", _find_operation(meta), site)
    yield Draft(origin, path, compute_digest(json.dumps(digest_parts)), build, page.address)
    if not source.path:
        former_paths = [file_path, *map(request.path_of, get_former_paths(front))]
        yield from (PageRedirect(old, path) for old in dict.fromkeys(former_paths) if old != path)


def _collect_fields(
    meta: dict[str, Any], body: str, short_titles: tuple[str, ...], problems: list[Problem]
) -> dict[str, Any]:
    """The title, tags and other fields of a page. A short title replaces a missing title, or becomes a keyword."""
    fields = collect_fields(meta, problems)
    for short in (value for name in short_titles if isinstance(value := meta.get(name), str) and value.strip()):
        if "title" in fields or title_of(body):
            fields["keywords"] = tuple(dict.fromkeys((*fields["keywords"], short.strip())))
        else:
            fields["title"] = short.strip()
    return fields


def _build_page(page: Page, is_mdx: bool, operation: str, site: Site) -> Page:
    """The page in plain Markdown with anchors, as `search.text.sections` expects it."""
    markdown = _COMMENT_ID.sub(r"\1{#\2}", page.markdown) if "{/" in page.markdown else page.markdown
    markdown = site.rewrite(markdown) if site.rewrite else markdown
    markdown = to_markdown(markdown) if is_mdx else markdown
    markdown = add_anchors(markdown, site.slugs) if site.slugs else markdown
    return replace(page, markdown=_add_operation(markdown, operation))


def _says_noindex(body: str) -> bool:
    """Whether a page of Docusaurus tells robots in its `<head>` not to index it."""
    head = _HEAD.search(body) if "noindex" in body else None
    return head is not None and body.count("\n", 0, head.start()) not in fenced_lines(body)


def _drop_empty(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if value not in (None, "")}


def _find_operation(meta: dict[str, Any]) -> str:
    """The method and path of the API operation that the page documents, such as `GET /users`; may be empty."""
    named = meta.get("openapi") or meta.get("api")
    operation = _OPERATION.search(named) if isinstance(named, str) else None
    return f"{operation[1].upper()} {operation[2]}".replace("WEBHOOK ", "webhook ") if operation else ""


def _add_operation(body: str, operation: str) -> str:
    """Add the operation below the page's title, unless the page contains it."""
    if not operation or operation in body:
        return body
    title, _, rest = body.lstrip("\n").partition("\n")
    return f"{title}\n\n`{operation}`\n\n{rest}" if title.startswith("# ") else f"`{operation}`\n\n{body}"
