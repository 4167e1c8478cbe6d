"""How many new paths or audiences a project gets in a day, and how many of them from one reader.

The counters are in the store of the rate limits, so they hold for all processes. They are used only when a value
gets a number: views of known values cost nothing here.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from django.core.cache import caches
from django.utils.crypto import salted_hmac

from analytics.audience import Dimensions
from docsite.core.redis_servers.clients import ERRORS as REDIS_ERRORS

logger = logging.getLogger(__name__)

SECONDS = 2 * 86_400  # for which a counter is kept: longer than a day of views lasts
_MAX_REMEMBERED = 10_000


class Limits(NamedTuple):
    """New values in a day: of a project, and of one network."""

    in_all: int
    of_a_reader: int


Origin = tuple[int, str]  # the day of a view, and the network of its reader; empty where that has no limit


class ViewToNumber(Protocol):
    """A view: its path, its dimensions, its time in microseconds, and the network of its reader if that is limited."""

    @property
    def path(self) -> str: ...

    @property
    def dimensions(self) -> Dimensions: ...

    @property
    def at(self) -> int: ...

    @property
    def network(self) -> str: ...


class NewValues:
    """Counts the new values of one kind of a project."""

    def __init__(self, kind: str, project_id: int) -> None:
        self._name = f"new {kind} of {project_id}"
        self._counts: dict[Origin, int] = {}  # what this process saw last; (day, "") is the project

    def has_room(self, origin: Origin, limits: Limits) -> bool:
        """Whether the limits allow another new value, by the counts that this process saw last. Asks no store."""
        day, network = origin
        is_reader_within = not network or self._counts.get(origin, 0) < limits.of_a_reader
        return is_reader_within and self._counts.get((day, ""), 0) < limits.in_all

    def admit(self, origins: Sequence[Origin], limits: Limits) -> list[bool]:
        """Count new values and tell which of them may get a number, the first ones first.

        Call it in the transaction that numbers them, while no other process numbers values of this project.
        """
        readers = Counter(origin for origin in origins if origin[1])
        left = {origin: self._take(origin, count, limits.of_a_reader) for origin, count in readers.items()}
        admitted = []
        for origin in origins:
            is_within = left.get(origin, 1) > 0
            if origin in left:
                left[origin] -= is_within
            admitted.append(is_within)
        days = Counter(day for (day, _), is_within in zip(origins, admitted, strict=True) if is_within)
        room = {day: self._take((day, ""), count, limits.in_all) for day, count in days.items()}
        for place, (day, _) in enumerate(origins):
            if admitted[place]:
                admitted[place] = room[day] > 0
                room[day] -= 1
        return admitted

    def _take(self, origin: Origin, count: int, limit: int) -> int:
        """Count values, and return how many of them are within the limit."""
        known = self._counts.get(origin, 0)
        if known >= limit:
            return 0
        try:
            total = self._add(origin, count)
        except REDIS_ERRORS as failure:
            logger.warning("The store of the limits does not answer.", exc_info=failure)
            total = known + count  # until it does, each process counts for itself
        if len(self._counts) >= _MAX_REMEMBERED:
            self._counts.clear()
        self._counts[origin] = total
        return max(0, min(count, limit - (total - count)))

    def _add(self, origin: Origin, count: int) -> int:
        # Nobody can learn an address from the key.
        key = salted_hmac(self._name, "{} {}".format(*origin), algorithm="sha256").hexdigest()[:40]
        store = caches["limits"]
        store.add(key, 0, SECONDS)
        return int(store.incr(key, count))
