"""A folder of Markdown and MDX files, as a generator renders it or as a manifest lists it."""

import json
import re
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from docsite.core.paths import normalize
from search.sources import Draft, ExcludedPage, Page, PageRedirect, UnreadablePage, compute_digest
from search.sources.files import MARKDOWN, list_files, quote_path, read_text_in_folder
from search.sources.markdown import generators
from search.sources.markdown.front_matter import (
    FIELDS,
    MAX_WORDS,
    boost_of,
    exclusion_of,
    former_places,
    front_matter,
    text_of,
    words_of,
)
from search.sources.markdown.mdx import to_markdown
from search.sources.markdown.sites import Site, Tree, stem
from search.sources.markdown.slugs import Slugs, add_anchors
from search.sources.request import SourceRequest
from search.text.markdown.reader import title_of

FORMATS = tuple(ending[1:] for ending in MARKDOWN)  # as a manifest says them
_OPERATION = re.compile(r"(?i)(?:^|\s)(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|WEBHOOK)\s+(\S+)\s*$")
_SHORT_TITLES = ("navTitle", "sidebarTitle", "sidebar_label")  # MkDocs's, Mintlify's and Docusaurus's


FolderItem = Draft | UnreadablePage | ExcludedPage | PageRedirect


class _Source(NamedTuple):
    """A file to read: its name below the tree, the path and address of its page, and its metadata in a manifest."""

    name: str
    path: str
    address: str
    given: dict[str, Any]
    is_listed: bool = False  # by a manifest, so that it is to be found whatever it says


def recognizes(request: SourceRequest) -> bool:
    """Whether the location is a folder: one that no other reader recognizes holds Markdown."""
    return request.folder is not None


def read(request: SourceRequest) -> Iterator[FolderItem]:
    """The pages that the folder holds, or those that the request's manifest lists."""
    root = Path(request.location)
    return read_manifest(root, request.manifest, request) if request.manifest else read_folder(root, request)


def read_folder(root: Path, request: SourceRequest | None = None) -> Iterator[FolderItem]:
    """Every Markdown and MDX file below a folder that its generator shows; hidden ones are left out.

    Raises ValueError with a sentence when the generator's configuration cannot be read.
    """
    request = request or SourceRequest(str(root), "")
    site = generators.site_of(root, request)
    yield from site.moved
    for tree in site.trees:
        for name in list_files(tree.folder):
            if name.lower().endswith(MARKDOWN) and site.is_page(name):
                yield from _read(root, tree, site, _Source(name, "", "", {}), request)


def read_manifest(root: Path, manifest: Path, request: SourceRequest | None = None) -> Iterator[FolderItem]:
    """The pages a JSON-lines manifest lists: `path, file, format, title, language, version, tags`.

    Without a format, the file's ending decides; unknown endings are Markdown. Pages have the manifest's paths and
    GitHub's anchors, unless the request names a generator.
    """
    named = request if request and request.generator else SourceRequest(str(root), "", generator="plain")
    site = generators.site_of(root, named)
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
            form = item.get("format")
            if form and not (isinstance(form, str) and form in FORMATS):
                shown = form if isinstance(form, str) else reprlib.repr(form)
                yield UnreadablePage(item["file"], f"format {shown[:20]} is not known", path)
                continue
            address = site.address(f"{item['path'].strip('/')}.md", {}) or ""
            yield from _read(root, tree, site, _Source(item["file"], path, address, item, True), named)


def _read(root: Path, tree: Tree, site: Site, source: _Source, request: SourceRequest) -> Iterator[FolderItem]:
    """The items of one file. The manifest's metadata wins over the front matter, and that over the navigation."""
    file = tree.folder / source.name
    origin = file.relative_to(root).as_posix() if file.is_relative_to(root) else source.name
    lies = ""
    try:
        lies = normalize(quote_path(f"{tree.base}/{source.name}"))
        front, body = front_matter(read_text_in_folder(root, file))
        note = {"version": tree.version, "language": tree.language, **site.notes.get(stem(source.name), {})}
        meta = {**_without_empty(note), **front, **_without_empty(source.given)}
        fields = _fields(meta, body, () if site.generator == "plain" else _SHORT_TITLES)
        place = site.address(source.name, front)
        shown = "" if place is None else quote_path(f"{tree.base}/{place}".lstrip("/"))
    except ValueError as wrong:
        yield UnreadablePage(origin, str(wrong), source.path or lies)
        return
    if not source.is_listed and (unseen := exclusion_of(meta, origin)):
        yield unseen
        return
    address = source.address if source.path else shown
    path = source.path or (lies if place is None else normalize(address))
    body = site.includes.expand(body, file) if site.includes else body
    is_mdx = (source.given.get("format") or source.name.rpartition(".")[2].lower()) == "mdx"
    told = [site.slugs and site.slugs.name, is_mdx, path, address, fields, _operation(meta), body]
    page = Page(origin, path, body, address="" if f"/{address}" == quote_path(path) else address, **fields)
    make = partial(_build_page, page, is_mdx, _operation(meta), site.slugs)
    yield Draft(origin, path, compute_digest(json.dumps(told)), make)
    former = [lies, *(request.path_of(place) for place in former_places(front))] if not source.path else []
    yield from (PageRedirect(old, path) for old in dict.fromkeys(former) if old != path)


def _fields(meta: dict[str, Any], body: str, short_titles: tuple[str, ...]) -> dict[str, Any]:
    """A page's title, tags and the like. A short title stands in for a missing one, or is one more name."""
    fields: dict[str, Any] = {key: words for key in FIELDS if (words := text_of(meta, key)) is not None}
    keywords = words_of(meta, "keywords")
    for short in (value for name in short_titles if isinstance(value := meta.get(name), str) and value.strip()):
        if "title" in fields or title_of(body):
            keywords = tuple(dict.fromkeys((*keywords, short.strip())))
        else:
            fields["title"] = short.strip()
    tags = tuple(dict.fromkeys(words_of(meta, "tags") + words_of(meta, "tag")))[:MAX_WORDS]
    return {**fields, "tags": tags, "keywords": keywords, "boost": boost_of(meta)}


def _build_page(page: Page, is_mdx: bool, operation: str, slugs: Slugs | None) -> Page:
    """The page in the Markdown that sections are cut from."""
    markdown = to_markdown(page.markdown) if is_mdx else page.markdown
    return replace(page, markdown=_with_operation(add_anchors(markdown, slugs) if slugs else markdown, operation))


def _without_empty(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value not in (None, "")}


def _operation(meta: dict[str, Any]) -> str:
    """The method and path of the API operation that the page documents, such as `GET /users`; empty for none."""
    named = meta.get("openapi") or meta.get("api")
    operation = _OPERATION.search(named) if isinstance(named, str) else None
    if not operation:
        return ""
    method = operation[1].lower() if operation[1].lower() == "webhook" else operation[1].upper()
    return f"{method} {operation[2]}"


def _with_operation(body: str, operation: str) -> str:
    """The page with its operation below its title, unless it has that already."""
    if not operation or operation in body:
        return body
    title, _, rest = body.lstrip("\n").partition("\n")
    return f"{title}\n\n`{operation}`\n\n{rest}" if title.startswith("# ") else f"`{operation}`\n\n{body}"
