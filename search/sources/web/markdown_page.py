"""Build pages from the Markdown that a site serves next to its HTML."""

import re
from dataclasses import replace

from search.sources import UNSTORABLE, ExcludedPage, Page, Problem, UnreadablePage
from search.sources.markdown.front_matter import collect_fields, find_exclusion, split_front_matter
from search.sources.markdown.mdx import to_markdown

_COMPONENT = re.compile(r"^[ \t]*</?[A-Z][A-Za-z.]*(?:[\s/>]|$)", re.MULTILINE)
_ENDING = re.compile(r"(?:(?<=/)index)?\.(?:md|mdx|markdown)$", re.IGNORECASE)


def get_page_address(address: str) -> str:
    """The address of the page whose Markdown is at an address: without `.md`, query and fragment.

    >>> get_page_address("https://docs.example/guide/index.md")
    'https://docs.example/guide/'
    """
    return _ENDING.sub("", re.split(r"[?#]", address, maxsplit=1)[0])


def build_page(page: Page, source: bytes) -> Page | UnreadablePage | ExcludedPage:
    """The page with its text and the metadata of its front matter. MDX components are converted."""
    problems: list[Problem] = []
    text = UNSTORABLE.sub("", source.decode("utf-8-sig", "replace"))
    try:
        front, body = split_front_matter(text.lstrip(), problems)
        if excluded := find_exclusion(front, page.origin):
            return excluded
        page = replace(page, **collect_fields(front, problems), problems=tuple(problems))
    except ValueError as wrong:
        return UnreadablePage(page.origin, str(wrong), page.path)
    if not body.strip():
        return UnreadablePage(page.origin, "has no text", page.path)
    return replace(page, markdown=to_markdown(body) if _COMPONENT.search(body) else body)
