"""What other pages call a page: the texts of their links to it. Readers find the page by them, too.

A page that did not change keeps the texts with which it was indexed. Links of a protected page name only pages of the
same groups, so that its words stay with its readers.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping

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
_MARKS = re.compile(r"[`*_~\\]")


def list_links(project: Project, page: Page) -> list[list[str]]:
    """The links of a page to others: the text of each, then the paths at which the other page may stand."""
    found: dict[tuple[str, ...], None] = {}
    empty = (
        _POINTERS | analysis.STOP_WORDS | analysis.FUNCTION_WORDS.get((page.language or "en")[:2].lower(), frozenset())
    )
    for link in links(page.markdown):
        text = _MARKS.sub("", page.markdown[link.label_start : link.label_end]).strip()
        if link.is_image or len(text) > MAX_TEXT or "![" in text or "\n" in text:
            continue
        paths = _find_targets(project, page.path, link.target)
        if page.path not in paths and paths and any(word.lower() not in empty for word in analysis.words(text)):
            found[text, *paths] = None
        if len(found) == MAX_LINKS:
            break
    return [list(one) for one in found]


def _find_targets(project: Project, path: str, target: str) -> Collection[str]:
    if target.startswith(project.docs_url):
        return [project.path_of(target.partition("#")[0])]
    return find_paths(project, path, target)


def collect(project: Project, build: str, replaced: Collection[str]) -> dict[int, str]:
    """The texts for each page that a build has staged, by its id, one a line.

    `replaced` are the paths of pages that leave the index.
    """
    pages = Document.every.filter(project=project, build__in=["", build])
    rows = [row for row in pages.values_list("path", "pk", "build", "groups") if row[2] or row[0] not in replaced]
    known = {path: (pk, groups) for path, pk, _, groups in rows}
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pk, path, groups, found in pages.exclude(links=[]).values_list("pk", "path", "groups", "links").iterator():
        if path in known and known[path][0] == pk:
            for target, text in set(_resolve(found, known, groups)):
                counts[target][text] += 1
    return {
        pk: "\n".join(text for text, _ in sorted(counts[path].items(), key=lambda one: (-one[1], one[0]))[:MAX_TEXTS])
        for path, pk, staged, _ in rows
        if staged and path in counts
    }


def _resolve(found: list[list[str]], known: Mapping[str, tuple[int, str]], groups: str) -> Iterator[tuple[str, str]]:
    """The page to which each link leads, and its text."""
    for text, *paths in found:
        target = next((path for path in paths if path in known), None)
        if target and groups in ("", known[target][1]):
            yield target, text
