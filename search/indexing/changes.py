"""Find out what changed in a source: compare its items with the pages in the index."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from django.db.models import QuerySet

from docsite.core.paths import MAX_LENGTH
from docsite.core.tenants.models import Project
from search.indexing import entries, storable, time_limit
from search.indexing.outcome import Summary
from search.indexing.splitter import Sections, Splitter, explain
from search.indexing.time_limit import PageTimeout, limit_cpu_time
from search.models import Document
from search.sources import Draft, ExcludedPage, Item, Page, PageRedirect, Problem, UnreadablePage
from search.text import sections

# `normalize` cuts paths at MAX_LENGTH and drops a slash at the end, so a path of these lengths may have been cut.
MAX_PATH = MAX_LENGTH - 2


@dataclass(frozen=True)
class NewPage:
    """A page that is new or changed, with its digest and its sections."""

    page: Page
    digest: str
    parts: list[sections.Part]


_Candidate = tuple[Page, str]  # a page that is new or changed, if it can be cut into sections, and its digest


class SourceChanges:
    """Finds the new and changed pages of a source, and counts all others in the summary.

    The source's pages replace the pages `replaceable`. With `is_current` False every page counts
    as changed, because older rules indexed it.
    """

    def __init__(
        self,
        project: Project,
        replaceable: "QuerySet[Document]",
        find_groups: Callable[[str, Sequence[str] | None], str],
        *,
        is_current: bool,
        summary: Summary,
    ) -> None:
        """`find_groups` takes a path and the groups that the page names. It returns the page's groups as a column."""
        self.digests = dict(replaceable.values_list("path", "digest"))
        self.find_groups = find_groups
        groups = replaceable.exclude(groups="", own_groups__isnull=True).values_list("path", "groups", "own_groups")
        self._indexed_groups = {path: (column, own) for path, column, own in groups}
        others = Document.indexed.filter(project=project).exclude(pk__in=replaceable.values("pk"))
        self.words = dict(project.page_words.values_list("path", "words"))
        indexed_words = dict(replaceable.exclude(words="").values_list("path", "words"))
        self._new_words = {path for path, _ in self.words.items() ^ indexed_words.items()}
        self.source_names = dict(others.values_list("path", "source__name"))  # of other sources' pages
        self.is_current = is_current
        self.summary = summary
        self.replaced: set[str] = set()  # paths of pages that leave the index, complete when `pages` has ended
        self.redirects: dict[str, str] = {}
        self._origins: dict[str, str] = {}  # by path, of the pages read
        self._skipped: set[str] = set()  # paths; their pages stay as they are

    @property
    def is_empty(self) -> bool:
        """Whether the source had no readable page."""
        return not self._origins

    @property
    def has_old_pages(self) -> bool:
        """Whether pages stay in the index that older rules have indexed."""
        return not self.is_current and bool(self.source_names or self._skipped & self.digests.keys())

    def pages(self, items: Iterable[Item]) -> Iterator[NewPage]:
        """The pages that are new or changed."""
        with Splitter[_Candidate]() as splitter:
            waiting: set[str] = set()  # paths of pages that are not cut yet
            for item in items:
                if isinstance(item, Page | Draft) and item.path in waiting:  # cut the first page of a path first
                    yield from self._finish(splitter.take(all=True), waiting)
                if candidate := self._compare(item):
                    page, _ = candidate
                    waiting.add(page.path)
                    splitter.add(candidate, page.markdown, page.title)
                yield from self._finish(splitter.take(), waiting)
            yield from self._finish(splitter.take(all=True), waiting)
        removed = self.digests.keys() - self._origins.keys() - self._skipped
        self.summary.removed = len(removed)
        self.summary.paths["removed"] = sorted(removed)
        self.replaced |= removed

    def _finish(self, cut: Iterable[tuple[_Candidate, Sections]], waiting: set[str]) -> Iterator[NewPage]:
        """The pages that could be cut."""
        for (page, digest), parts in cut:
            waiting.discard(page.path)
            if isinstance(parts, str):
                self._skip(UnreadablePage(page.origin, parts, page.path))
                continue
            self._origins[page.path] = page.origin
            if page.path in self.digests:
                self.replaced.add(page.path)
            yield NewPage(page, digest, parts)

    def _compare(self, item: Item) -> _Candidate | None:
        """The item as a page, if it is new or changed."""
        if isinstance(item, PageRedirect):
            if max(len(item.path), len(item.target)) <= MAX_PATH and storable.is_storable(item):
                self.redirects[item.path] = item.target
            return None
        if isinstance(item, Problem):
            self.summary.problems.append(item._replace(detail=storable.clean_text(item.detail)))
            return None
        if isinstance(item, Page | Draft):
            if len(item.path) > MAX_PATH:
                item = UnreadablePage(item.origin, f"has a path of more than {MAX_PATH} characters")
            elif owner := self._owner(item.path):
                item = UnreadablePage(item.origin, f"path {item.path} is already taken by {owner}")
            elif item.digest and self._is_unchanged(item.path, item.digest, item.origin):
                return None
            elif isinstance(item, Draft):
                item = _convert(item)
        if isinstance(item, Page) and not storable.is_storable(item):
            item = UnreadablePage(item.origin, storable.REASON, item.path)
        if isinstance(item, UnreadablePage):
            self._skip(item)
            return None
        if isinstance(item, ExcludedPage):
            self.summary.left_out.append(storable.clean_note(item))
            return None
        page = entries.normalize_unicode(item)
        digest = page.digest or entries.compute_digest(page)
        if self._is_unchanged(page.path, digest, page.origin):
            return None
        wrong = (problem.detail for problem in page.problems if problem.kind == "front matter")
        self.summary.wrong_lines += [(page.origin, storable.clean_text(detail)) for detail in wrong]
        return page, digest

    def _skip(self, bad: UnreadablePage) -> None:
        """Leave the index's page as it is."""
        self.summary.skipped.append(storable.clean_note(bad))
        self._skipped.add(bad.path)

    def _is_unchanged(self, path: str, digest: str, origin: str) -> bool:
        """Whether the index has the same page, so that it can stay. If so, the summary counts it."""
        if not self.is_current or self.digests.get(path) != digest or path in self._new_words:
            return False
        groups, own_groups = self._indexed_groups.get(path, ("", None))
        if self.find_groups(path, own_groups) != groups:
            return False
        self._origins[path] = origin
        self.summary.unchanged += 1
        return True

    def _owner(self, path: str) -> str:
        """In words, where another page with this path came from; empty when no page has it."""
        if path in self.source_names:
            name = self.source_names[path]
            return f"the source {name}" if name else "what was read without a source"
        return self._origins.get(path, "")


def _convert(draft: Draft) -> Page | UnreadablePage | ExcludedPage:
    """The draft's page, with the path and digest of the draft, by which the next ingest compares it."""
    try:
        with limit_cpu_time(time_limit.MAX_PAGE_SECONDS):
            page = draft.build()
    except (RecursionError, PageTimeout) as error:
        return UnreadablePage(draft.origin, explain(error), draft.path)
    return replace(page, path=draft.path, digest=draft.digest) if isinstance(page, Page) else page
