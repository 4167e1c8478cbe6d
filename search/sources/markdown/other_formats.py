"""Convert the HTML and reStructuredText files that a manifest names."""

import posixpath
from dataclasses import replace
from pathlib import Path

from search.sources import ExcludedPage, Page, UnreadablePage
from search.sources.markdown.front_matter import get_groups

FORMATS = ("html", "rst")  # further values of `format` in a manifest
ENDINGS = {"html": "html", "htm": "html", "rst": "rst"}  # formats by the endings of files


def build_html_page(page: Page, address: str) -> Page | UnreadablePage | ExcludedPage:
    """The page, whose text is HTML and lies at an absolute address. What the manifest says wins."""
    from search.sources.html import read_html  # most folders have only Markdown, and these parsers are large

    try:
        read = read_html(page.markdown, address)
    except ValueError as wrong:
        return UnreadablePage(page.origin, str(wrong), page.path)
    if read.noindex or read.refresh:
        return ExcludedPage(page.origin, "says noindex" if read.noindex else "redirects to another page")
    names = ("title", "description", "version", "language", "keywords")
    missing = {name: getattr(read, name) for name in names if not getattr(page, name)}
    return replace(page, markdown=read.markdown, **missing)


def build_rst_page(page: Page, root: Path, name: str) -> Page | UnreadablePage:
    """The page, whose text is reStructuredText. Its links lead to labels of its own and to files beside it."""
    from search.sources import rst
    from search.sources.rst import site

    bare = posixpath.splitext(name)[0]
    title = site.find_title(page.markdown)
    project = site.Site(root=root, titles={bare: title}, labels=dict(site.find_labels(page.markdown, bare)))
    converted = rst.convert(page.markdown, project, bare)
    description = page.description or converted.meta.get("description", "")
    page = replace(page, markdown=converted.markdown, title=page.title or title, description=description)
    page = replace(page, problems=(*page.problems, *converted.problems))
    try:
        return page if page.groups is not None else replace(page, groups=get_groups(dict(converted.meta)))
    except ValueError as wrong:
        return UnreadablePage(page.origin, str(wrong), page.path)
