"""What other pages call a page: the texts of their links to it. Readers find the page by them, too.

Links of a protected page name only pages of the same groups, so that its words stay with its readers.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from docsite.core.tenants.models import Project
from search.models import Document
from search.retrieval.links import find_paths
from search.sources import Page
from search.text import analysis
from search.text.markdown.links import links

MAX_LINKS = 200  # of a page
MAX_TEXT = 80  # characters; a longer one is no name
MAX_TEXTS = 8  # of a page, those that the most pages use
_POINTERS = frozenset(("here", "click", "link"))
_MARKS = re.compile(r"[`*~\\]|(?<!\w)_|_(?!\w)")


def list_links(project: Project, page: Page) -> list[list[str]]:
    """The links of a page to others: the text of each, then the paths at which the other page may stand."""
    found: dict[tuple[str, ...], None] = {}
    meaningless = (
        _POINTERS | analysis.STOP_WORDS | analysis.FUNCTION_WORDS.get((page.language or "en")[:2].lower(), frozenset())
    )
    for link in links(page.markdown):
        text = _MARKS.sub("", page.markdown[link.label_start : link.label_end]).strip()
        if link.is_image or len(text) > MAX_TEXT or "![" in text or "://" in text or "\n" in text:
            continue
        paths = _find_targets(project, page.path, link.target)
        if page.path not in paths and paths and any(word.lower() not in meaningless for word in analysis.words(text)):
            found[text, *paths] = None
        if len(found) == MAX_LINKS:
            break
    return [list(row) for row in found]


def _find_targets(project: Project, path: str, target: str) -> Collection[str]:
    if f"{target}/".startswith(f"{project.docs_url.rstrip('/')}/"):
        return [project.path_of(target.partition("#")[0])]
    return find_paths(project, path, target)


def find_changes(project: Project, build: str, replaced: Collection[str]) -> dict[str, str]:
    """By path, the texts of links to each page that has other texts stored. They stand one a line.

    Links count on pages that the build has staged and on those that stay, not on those at the `replaced` paths.
    """
    pages = Document.every.filter(project=project, build__in=["", build])
    columns = pages.values_list("path", "pk", "build", "groups", "link_texts")
    known = {path: row for path, *row in columns if row[1] or path not in replaced}
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pk, path, groups, found in pages.exclude(links=[]).values_list("pk", "path", "groups", "links").iterator():
        if path in known and known[path][0] == pk:
            for target, text in set(_resolve(found, known, groups)):
                counts[target][text] += 1
    changes = {}
    for path, (*_, before) in known.items():
        ranked = sorted(counts[path].items(), key=lambda one: (-one[1], one[0])) if path in counts else []
        if (texts := "\n".join(text for text, _ in ranked[:MAX_TEXTS])) != before:
            changes[path] = texts
    return changes


def _resolve(found: list[list[str]], known: Mapping[str, list[Any]], groups: str) -> Iterator[tuple[str, str]]:
    """The page to which each link of a page of some groups leads, and its text."""
    for text, *paths in found:
        target = next((path for path in paths if path in known), None)
        if target and groups in ("", known[target][2]):
            yield target, text
