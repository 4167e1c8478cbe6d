"""Number the pages of a project. Cells and visit histories refer to a page by its number."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence, Set

import numpy as np
from django.db import transaction

from analytics.counting.cells import MAX_PAGES, Ints
from analytics.counting.new_values import Limits, NewValues, Origin, ViewToNumber
from analytics.models import Page
from docsite.core import sql
from docsite.core.postgresql import primary
from docsite.core.sized_cache import SizedCache
from docsite.core.tenants.models import Project
from search.models import Document

OTHER = "(other)"  # the path of views beyond the daily limit
MAX_UNINDEXED = 10_000  # per project and day: paths that are not in the index
MAX_NEW_OF_A_READER = 200  # per client address, project and day: pages that get a number because of its views
DAY = 86_400_000_000  # microseconds
NONE = 0  # the number of no page: 0 is the site
MAX_CACHED = 300_000  # paths that a process holds, some 300 bytes each
_MAX_ASKED = 500  # paths that are asked for by name; to read all of a large index takes longer than the rest of a view
_MAX_CACHED_DAYS = 400  # one import may have views of so many days


class Pages:
    """The pages of one project that this process has loaded. Pages are only added, never removed."""

    def __init__(self, project_id: int) -> None:
        self.project_id = project_id
        self._server = ""  # the database server that they were loaded from
        self.numbers: dict[str, int] = {}
        self.paths: list[str] = [""]  # by number; 0 is the site
        self._by_path: list[str] = []
        self._rank: Ints = np.zeros(1, np.int64)
        self._days: OrderedDict[int, _Day] = OrderedDict()
        self._new = NewValues("paths", project_id)
        self._lock = threading.Lock()

    def load(self) -> None:
        """Load the pages that were added since the last call.

        Raises OperationalError if another database server answers than at the first call.
        """
        self._server = primary.check_server(self._server)
        with self._lock:
            query = "SELECT number, path FROM analytics_page WHERE project_id = %s AND number >= %s ORDER BY number"
            self._append(sql.fetch_all(query, [self.project_id, len(self.paths)]))

    def _append(self, rows: Iterable[tuple[int, str]]) -> None:
        """Add pages in the order of their numbers. Another thread may have added some meanwhile."""
        for number, path in rows:
            if number >= len(self.paths):
                assert number == len(self.paths)
                self.paths.append(path)
                self.numbers[path] = number

    def rank(self) -> Ints:
        """The rank of each page's path in alphabetical order, by the page's number."""
        with self._lock:
            if len(self._rank) != len(self.paths):
                self._by_path += self.paths[len(self._by_path) :]
                self._by_path.sort()  # mostly sorted already
                places = {path: place for place, path in enumerate(self._by_path)}
                self._rank = np.fromiter((places[path] for path in self.paths), np.int64, len(self.paths))
            return self._rank

    def assign_numbers(self, views: Sequence[ViewToNumber]) -> list[int]:
        """The page numbers of views. New pages get a number.

        Beyond 10,000 paths a day outside of the index, further paths share the page
        `(other)`, so that scanners cannot create millions of pages. So do new paths outside of the index
        beyond 200 a day of one network; views without a network have no such limit. All processes together count
        new paths. Of the known ones each process counts those of a day for itself.
        """
        day_of_view = [view.at // DAY for view in views]
        days = {number: self._day(number) for number in set(day_of_view)}
        admitted = {number: day.admitted for number, day in days.items()}
        numbers = [admitted[day].get(view.path, NONE) for view, day in zip(views, day_of_view, strict=True)]
        if NONE not in numbers:
            return numbers
        found = dict.fromkeys(
            (view.path, day, view.network)
            for view, day, number in zip(views, day_of_view, numbers, strict=True)
            if number == NONE
        )
        self._add_paths([(path, days[day], network) for path, day, network in found])
        other = self.numbers.get(OTHER, NONE)
        return [
            number or admitted[day].get(view.path, other)
            for view, day, number in zip(views, day_of_view, numbers, strict=True)
        ]

    def _add_paths(self, found: list[tuple[str, "_Day", str]]) -> None:
        if any(path not in self.numbers for path, _, _ in found):
            self.load()  # another process may have numbered them
        indexed = indexed_paths(self.project_id, {path for path, _, _ in found})
        limits = Limits(MAX_UNINDEXED, MAX_NEW_OF_A_READER)
        wanted: dict[str, Origin | None] = {}  # paths without a number; None: without a limit
        new = []
        for path, day, network in found:
            if path in day.admitted:
                continue
            origin = None if path in indexed else (day.number, network)
            is_new = path not in self.numbers and path not in wanted
            if origin and (day.unindexed >= MAX_UNINDEXED or (is_new and not self._new.has_room(origin, limits))):
                wanted[OTHER] = None
                continue
            if is_new:
                wanted[path] = origin
            day.unindexed += path not in indexed
            day.admitted[path] = NONE  # until it has a number
            new.append((day, path))
        try:
            self._number({path: origin for path, origin in wanted.items() if path not in self.numbers}, limits)
        except BaseException:
            self._days.clear()  # they are counted again
            raise
        for day, path in new:
            if path in self.numbers:
                day.admitted[path] = self.numbers[path]
            else:
                del day.admitted[path]
                day.unindexed -= 1

    def _day(self, number: int) -> "_Day":
        day = self._days.get(number)
        if day is None:
            day = self._days[number] = _Day(self, number)
            if len(self._days) > _MAX_CACHED_DAYS:
                self._days.popitem(last=False)
        return day

    def _number(self, paths: Mapping[str, Origin | None], limits: Limits) -> None:
        """Number new paths as far as there is room. They are committed when this returns."""
        if not paths:
            return
        with transaction.atomic():
            # One process at a time.
            Project.objects.select_for_update(no_key=True).get(pk=self.project_id)
            self.load()
            unknown = {path: origin for path, origin in paths.items() if path not in self.numbers}
            limited = {path: origin for path, origin in unknown.items() if origin}
            admitted = self._new.admit(list(limited.values()), limits)
            refused = {path for path, is_admitted in zip(limited, admitted, strict=True) if not is_admitted}
            new = sorted((unknown.keys() | ({OTHER} if refused else set())) - refused - self.numbers.keys())
            first = len(self.paths)
            if first + len(new) > MAX_PAGES:
                raise OverflowError("This project has too many pages.")
            Page.objects.bulk_create(
                Page(project_id=self.project_id, number=number, path=path) for number, path in enumerate(new, first)
            )
        with self._lock:
            self._append(enumerate(new, first))


class _Day:
    """The paths that were viewed on one day."""

    def __init__(self, pages: Pages, number: int) -> None:
        self.number = number
        query = "SELECT DISTINCT page FROM analytics_pageview WHERE project_id = %s AND at >= %s AND at < %s"
        views = sql.fetch_all(query, [pages.project_id, number * DAY, (number + 1) * DAY])
        pages.load()  # after the views: another process may have added pages with them
        self.admitted = {pages.paths[number]: number for (number,) in views}
        paths = self.admitted.keys() - {OTHER}
        self.unindexed = len(paths - indexed_paths(pages.project_id, paths))


def indexed_paths(project_id: int, among: Set[str]) -> set[str]:
    """Paths of the project's index, at least those of `among` that are in it."""
    if not among:
        return set()
    indexed = Document.indexed.filter(project_id=project_id).order_by()
    if len(among) <= _MAX_ASKED:
        indexed = indexed.filter(path__in=among)
    return set(indexed.values_list("path", flat=True))


_loaded: SizedCache[int, Pages] = SizedCache()
primary.forget_with(_loaded.clear)


def for_project(project_id: int) -> Pages:
    """The pages of a project. Those of projects that nobody asked about for long are loaded again."""
    with _loaded.lock:  # so that nobody clears it between the two steps
        pages = _loaded.get(project_id) or Pages(project_id)
        _loaded.put(project_id, pages, len(pages.paths), MAX_CACHED)  # anew: it may have more pages meanwhile
    return pages


def paths_of(project_id: int, numbers: Iterable[int]) -> Sequence[str]:
    """The paths of the pages with these numbers."""
    pages = for_project(project_id)
    numbers = list(numbers)
    if numbers and max(numbers) >= len(pages.paths):
        pages.load()
    return [pages.paths[number] for number in numbers]
