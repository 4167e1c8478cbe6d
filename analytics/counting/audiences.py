"""Number the audiences of a project, and the values of their dimensions, for the cells.

An audience is a combination of values: channel, source, campaign, device, browser and language. A raw view
holds its number. Cells and visit histories hold keys: the number of a value, or of the page on which a visit
began. The values are numbered in the order in which the audiences first have them, so every process derives
the same numbers from the rows, which are only added.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
from django.db import transaction

from analytics.audience import Dimensions
from analytics.counting.cells import FIRST_KEY, Ints
from analytics.counting.new_values import Limits, NewValues, Origin, ViewToNumber
from analytics.models import Audience
from docsite.core import sql
from docsite.core.postgresql import primary
from docsite.core.sized_cache import SizedCache
from docsite.core.tenants.models import Project

# The sources, campaigns and languages of further audiences are `(other)`.
MAX_AUDIENCES = 10_000  # per project and day
MAX_NEW_OF_A_READER = 100  # per network, project and day
MAX_IN_ALL = 200_000  # per project
NONE = 0  # the audience of a view of which nothing is known
DAY = 86_400_000_000  # microseconds
MAX_CACHED = 200_000  # audiences that a process holds, some 500 bytes each
_MAX_CACHED_DAYS = 400

_FIELDS = Dimensions._fields
_NOTHING = Dimensions()


class Audiences:
    """The audiences of one project that this process has loaded. Audiences are only added, never removed."""

    def __init__(self, project_id: int) -> None:
        self.project_id = project_id
        self._server = ""  # the database server that they were loaded from
        self.rows: list[Dimensions] = [_NOTHING]  # by number; 0 is NONE
        self.numbers: dict[Dimensions, int] = {_NOTHING: NONE}
        self.values: list[tuple[str, str]] = [("", "")]  # dimension and value by their number, from 1
        self._value_numbers: dict[tuple[str, str], int] = {}
        self._table: Ints = np.zeros((1, len(_FIELDS)), np.int64)
        self._entries = np.zeros(1, bool)
        self._days: OrderedDict[int, set[int]] = OrderedDict()
        self._new = NewValues("audiences", project_id)
        self._lock = threading.Lock()

    def load(self) -> None:
        """Load the audiences that were added since the last call.

        Raises OperationalError if another database server answers than at the first call.
        """
        self._server = primary.check_server(self._server)
        with self._lock:
            columns = ", ".join(["number", *_FIELDS])
            query = f"SELECT {columns} FROM analytics_audience WHERE project_id = %s AND number >= %s ORDER BY number"
            rows = sql.fetch_all(query, [self.project_id, len(self.rows)])
            self._append([(number, Dimensions(*values)) for number, *values in rows])

    def _append(self, rows: Sequence[tuple[int, Dimensions]]) -> None:
        """Add audiences in the order of their numbers. Another thread may have added some meanwhile."""
        added = [row for row in rows if row[0] >= len(self.rows)]
        if not added:
            return
        table = []
        for number, dimensions in added:
            assert number == len(self.rows)
            self.rows.append(dimensions)
            self.numbers[dimensions] = number
            table.append([self._number_value(pair) for pair in zip(_FIELDS, dimensions, strict=True)])
        self._entries = np.concatenate([self._entries, [dimensions.is_entry for _, dimensions in added]])
        self._table = np.concatenate([self._table, np.array(table, np.int64)])

    def _number_value(self, pair: tuple[str, str]) -> int:
        if not pair[1]:
            return 0
        number = self._value_numbers.get(pair)
        if number is None:
            number = self._value_numbers[pair] = len(self.values)
            self.values.append(pair)
        return number

    def find_value(self, dimension: str, value: str) -> int | None:
        """The number of a value, or None if no view ever had it."""
        return self._value_numbers.get((dimension, value))

    def keys_of(self, audience: Ints, page: Ints) -> tuple[Ints, Ints]:
        """The keys of views with these audiences and pages: the index of a view, and one of its keys."""
        if len(audience) and int(audience.max()) >= len(self._table):
            self.load()
        values = self._table[audience]
        view, column = np.nonzero(values)
        (entry,) = np.nonzero(self._entries[audience])
        return (
            np.concatenate([view, entry]),
            np.concatenate([key_of_value(values[view, column]), key_of_entry(page[entry])]),
        )

    def assign_numbers(self, views: Sequence[ViewToNumber]) -> list[int]:
        """The audience numbers of views. New audiences get a number.

        Beyond 10,000 audiences a day, and 100 new ones of a reader's network, further ones share `(other)`. All
        processes together count new audiences. Of the known ones each process counts those of a day for itself.
        """
        numbers = [self.numbers.get(view.dimensions, -1) for view in views]
        days = [view.at // DAY for view in views]
        new = [pair for pair in set(zip(numbers, days, strict=True)) if pair[0] not in self._admitted(pair[1])]
        if all(number >= 0 and len(self._admitted(day)) + len(new) < MAX_AUDIENCES for number, day in new):
            for number, day in new:
                self._admitted(day).add(number)
            return numbers
        found = {(view.dimensions, day): view.network for view, day in zip(views, days, strict=True)}
        admitted = self._admit(found)
        return [admitted[view.dimensions, day] for view, day in zip(views, days, strict=True)]

    def _admit(self, found: Mapping[tuple[Dimensions, int], str]) -> dict[tuple[Dimensions, int], int]:
        """Admit audiences to days as far as there is room, and number them. Returns the numbers to use.

        The values of `found` are the networks of the readers.
        """
        if any(dimensions not in self.numbers for dimensions, _ in found):
            self.load()  # another process may have numbered them
        limits = Limits(MAX_AUDIENCES, MAX_NEW_OF_A_READER)
        new: dict[int, set[Dimensions]] = {}
        wanted: dict[Dimensions, Origin | None] = {}  # audiences without a number; None: without a limit
        for (dimensions, day), network in found.items():
            admitted, added = self._admitted(day), new.setdefault(day, set())
            number = self.numbers.get(dimensions)
            if number in admitted:
                continue
            is_new = number is None and dimensions not in wanted
            has_room = len(admitted) + len(added) < MAX_AUDIENCES and len(self.rows) + len(added) < MAX_IN_ALL
            if not has_room or (is_new and not self._new.has_room((day, network), limits)):
                wanted[dimensions.limited()] = None
                continue
            if is_new:
                wanted[dimensions] = (day, network)
            added.add(dimensions)
        self._number({values: origin for values, origin in wanted.items() if values not in self.numbers}, limits)
        for day, added in new.items():
            self._admitted(day).update(self.numbers[dimensions] for dimensions in added & self.numbers.keys())
        return {
            (dimensions, day): self.numbers[
                dimensions if self.numbers.get(dimensions) in self._admitted(day) else dimensions.limited()
            ]
            for dimensions, day in found
        }

    def _admitted(self, number: int) -> set[int]:
        """The numbers of the audiences that were seen on a day."""
        day = self._days.get(number)
        if day is None:
            self.load()
            query = "SELECT DISTINCT audience FROM analytics_pageview WHERE project_id = %s AND at >= %s AND at < %s"
            views = sql.fetch_all(query, [self.project_id, number * DAY, (number + 1) * DAY])
            day = self._days[number] = {NONE, *(audience for (audience,) in views)}
            if len(self._days) > _MAX_CACHED_DAYS:
                self._days.popitem(last=False)
        return day

    def _number(self, audiences: Mapping[Dimensions, Origin | None], limits: Limits) -> None:
        """Number new audiences as far as there is room, else what is left of them. They are committed then."""
        if not audiences:
            return
        with transaction.atomic():
            # One process at a time.
            Project.objects.select_for_update(no_key=True).get(pk=self.project_id)
            self.load()
            unknown = {values: origin for values, origin in audiences.items() if values not in self.numbers}
            limited = {values: origin for values, origin in unknown.items() if origin}
            admitted = self._new.admit(list(limited.values()), limits)
            refused = {values for values, is_admitted in zip(limited, admitted, strict=True) if not is_admitted}
            needed = (unknown.keys() - refused) | {values.limited() for values in refused}
            new, first = sorted(needed - self.numbers.keys()), len(self.rows)
            Audience.objects.bulk_create(
                Audience(project_id=self.project_id, number=number, **dimensions._asdict())
                for number, dimensions in enumerate(new, first)
            )
        with self._lock:
            self._append(list(enumerate(new, first)))


def key_of_value(number: Ints) -> Ints:
    """The keys of numbered values: even numbers from `FIRST_KEY`."""
    return FIRST_KEY + (number << 1)


def key_of_entry(page: Ints) -> Ints:
    """The keys of the pages on which visits began: odd numbers from `FIRST_KEY`."""
    return FIRST_KEY + (page << 1 | 1)


_loaded: SizedCache[int, Audiences] = SizedCache()
primary.forget_with(_loaded.clear)


def for_project(project_id: int) -> Audiences:
    """The audiences of a project. Those of projects that nobody asked about for long are loaded again."""
    with _loaded.lock:  # so that nobody clears it between the two steps
        audiences = _loaded.get(project_id) or Audiences(project_id)
        _loaded.put(project_id, audiences, len(audiences.rows), MAX_CACHED)  # anew: it may have more meanwhile
    return audiences
