"""Access logs into the database, from where the last import of each log ended.

How far an import came is kept once its views are committed, and only where the minute
changes: so the lines of one minute are always numbered from the first of them, and
a log that is killed and begun again ends with the same views. A view that was stored
after that is known by its id.
"""

import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.utils.crypto import salted_hmac

from analytics.collecting import recording
from analytics.collecting.writer import Receipt
from analytics.logs import formats
from analytics.logs.files import Damaged, Log, stripped
from analytics.logs.lines import Skipped, Views
from analytics.models import LogImport
from docsite.core.tenants.models import Project

_IN_FLIGHT = 3  # batches that are not stored yet, while the next one is read
_KEEP_SECONDS = 1.0  # after which it is kept again how far the import came
_TRIED = 1_000  # lines: a file in which none of the first so many is a log's is no log


class NotALog(Exception):
    """None of the first lines can be read. Nothing was imported."""


@dataclass
class Tally:
    """What became of the lines of a log."""

    begun_at: int = 0  # byte
    lines: int = 0
    new: int = 0
    known: int = 0
    skipped: Counter[Skipped] = field(default_factory=Counter)
    unreadable: int = 0  # number of the first line that is
    first: datetime | None = None
    last: datetime | None = None
    share: float = 0.0  # of the file that is read
    is_line_left: bool = False  # the last one, which has no end yet


class _Place(NamedTuple):
    """A place between two lines, and the one before it, where that is known."""

    offset: int
    last_line: bytes | None = None


def views_of(project: Project, *, people: bool = True) -> Views:
    """Makes views of a project from lines."""
    return Views(project.docs_url, project.allowed_origins, people=people)


def first_instant(path: Path, views: Views) -> datetime | None:
    """When the first view of a log was; None where the first lines hold none."""
    with Log(path) as log:
        tried = 0
        for _, lines in log.blocks():
            for line in lines[: _TRIED - tried]:
                if not isinstance(seen := views.read(line), Skipped):
                    return seen.at
            tried += len(lines)
            if tried >= _TRIED:
                break
    return None


def import_log(
    project: Project, log: Log, views: Views, progress: Callable[[Tally], None], *, again: bool = False
) -> Tally:
    """Record the views of a log that are not recorded yet. `progress` is told after each batch what became of it.

    `again`: from its beginning, also where it was imported already. What is known by its id counts once.
    """
    return _Import(project, log, views, progress).run(again=again)


class _Import:
    def __init__(self, project: Project, log: Log, views: Views, progress: Callable[[Tally], None]) -> None:
        self.project = project
        self.log = log
        self.views = views
        self.progress = progress
        self.tally = Tally()
        self.in_flight: deque[tuple[Future[Receipt], _Place | None]] = deque()
        self.first_line = ""
        self.kept_at = time.monotonic()

    def run(self, *, again: bool) -> Tally:
        if self.log.is_file:
            line = self.log.first_line()
            if not line:
                return self.tally
            self.first_line = _digest(line)
            if not again:
                self.resume()
        place = _Place(self.tally.begun_at)
        damaged = None
        try:
            for dropped, lines in self.log.blocks():
                place = self.read(place, dropped, lines)
        except Damaged as failure:
            damaged = failure
        self.tally.is_line_left = self.log.is_line_left
        if self.tally.lines and not self.is_log():
            raise NotALog
        while self.in_flight:
            self.settle()
        self.keep(_Place(min(place.offset, self.log.offset), place.last_line))  # a last line may have no end
        if damaged:
            raise damaged
        return self.tally

    def resume(self) -> None:
        """Go to where the last import of this log ended, if the log is still the same there."""
        known = LogImport.objects.filter(project=self.project, first_line=self.first_line).first()
        if known is None:
            return
        before = self.log.go_to(known.offset)
        if self.log.offset == known.offset and _digest(stripped(before[-1])) == known.last_line:
            self.log.skip_end()
            self.tally.begun_at = self.log.offset
            for line in before:  # for the numbers of equal ones
                self.views.read(line)
        else:
            self.log.go_to(0)

    def is_log(self) -> bool:
        return self.tally.begun_at > 0 or self.tally.skipped[Skipped.UNREADABLE] < self.tally.lines

    def read(self, place: _Place, dropped: int, lines: list[bytes]) -> _Place:
        """Send the views of some lines; returns the place after them."""
        tally, views, found = self.tally, self.views, []
        safe = None  # where an import may go on when these are stored
        offset, last_line = place
        if dropped:
            offset, last_line = offset + dropped, None
            tally.lines += 1
            self.skip(Skipped.UNREADABLE)
        for line in lines:
            tally.lines += 1
            before = views.minute
            seen = views.read(line)
            if isinstance(seen, Skipped):
                self.skip(seen)
            else:
                found.append(seen)
                if views.minute != before:
                    safe = _Place(offset, last_line)
            offset, last_line = offset + len(line) + 1, line
        if found:
            instants = [seen.at for seen in found]
            tally.first = min([*instants, tally.first or instants[0]])
            tally.last = max([*instants, tally.last or instants[0]])
            self.in_flight.append((recording.send(self.project, found), safe))
            if len(self.in_flight) > _IN_FLIGHT:
                self.settle()
        tally.share = self.log.share()
        self.progress(tally)
        return _Place(offset, last_line)

    def skip(self, reason: Skipped) -> None:
        self.tally.skipped[reason] += 1
        if reason is Skipped.UNREADABLE and not self.tally.unreadable:
            self.tally.unreadable = self.tally.lines
        if self.tally.lines == _TRIED and not self.is_log():
            raise NotALog

    def settle(self) -> None:
        """Wait for the oldest batch."""
        future, safe = self.in_flight.popleft()
        receipt = future.result()
        self.tally.new += receipt.accepted + receipt.ignored
        self.tally.known += receipt.duplicates
        if safe and time.monotonic() > self.kept_at + _KEEP_SECONDS:
            self.keep(safe)

    def keep(self, place: _Place) -> None:
        """Keep that the log is imported up to there."""
        self.kept_at = time.monotonic()
        if self.log.is_file and place.last_line is not None:
            LogImport.objects.update_or_create(
                project=self.project,
                first_line=self.first_line,
                defaults={"offset": place.offset, "last_line": _digest(stripped(place.last_line))},
            )


def _digest(line: bytes) -> str:
    """What a line is known by, of that which tells nothing of who read: this is kept for good.

    Keyed with the service's own key: a project's may change, and then its logs must not be taken for new ones.
    """
    request = formats.read(formats.text_of(line))
    if request is None or not request.target:
        told = str(len(line))
    else:
        path = request.target.partition("?")[0]
        told = "\n".join((request.time, request.method, path, request.status))
    return salted_hmac("analytics.logs.importing", told.encode("utf-8", "replace"), algorithm="sha256").hexdigest()
