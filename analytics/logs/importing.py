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
from analytics.logs.files import DamagedLog, LogFile, strip_line
from analytics.logs.lines import SkipReason, ViewParser
from analytics.models import LogImport
from docsite.core.tenants.models import Project

_MAX_PENDING = 3  # batches that are not stored yet, while the next one is read
_SAVE_SECONDS = 1.0  # after which it is kept again how far the import came
_MAX_TRIED_LINES = 1_000  # lines: a file in which none of the first so many is a log's is no log


class NotALog(Exception):
    """None of the first lines can be read. Nothing was imported."""


@dataclass
class ImportSummary:
    """What became of the lines of a log."""

    start_offset: int = 0  # byte
    lines: int = 0
    new: int = 0
    known: int = 0
    skipped: Counter[SkipReason] = field(default_factory=Counter)
    unreadable: int = 0  # number of the first line that is
    first: datetime | None = None
    last: datetime | None = None
    share: float = 0.0  # of the file that is read
    has_partial_line: bool = False  # the last one, which has no end yet


class _Position(NamedTuple):
    """A place between two lines, and the one before it, where that is known."""

    offset: int
    last_line: bytes | None = None


def create_parser(project: Project, *, people: bool = True) -> ViewParser:
    """Makes views of a project from lines."""
    return ViewParser(project.docs_url, project.allowed_origins, people=people)


def first_view_time(path: Path, views: ViewParser) -> datetime | None:
    """When the first view of a log was; None where the first lines hold none."""
    with LogFile(path) as log:
        tried = 0
        for _, lines in log.blocks():
            for line in lines[: _MAX_TRIED_LINES - tried]:
                if not isinstance(view := views.parse(line), SkipReason):
                    return view.at
            tried += len(lines)
            if tried >= _MAX_TRIED_LINES:
                break
    return None


def import_log(
    project: Project, log: LogFile, views: ViewParser, progress: Callable[[ImportSummary], None], *, again: bool = False
) -> ImportSummary:
    """Record the views of a log that are not recorded yet. `progress` is told after each batch what became of it.

    `again`: from its beginning, also where it was imported already. What is known by its id counts once.
    """
    return _Import(project, log, views, progress).run(again=again)


class _Import:
    def __init__(
        self, project: Project, log: LogFile, views: ViewParser, progress: Callable[[ImportSummary], None]
    ) -> None:
        self.project = project
        self.log = log
        self.views = views
        self.progress = progress
        self.summary = ImportSummary()
        self.pending: deque[tuple[Future[Receipt], _Position | None]] = deque()
        self.first_line = ""
        self.saved_at = time.monotonic()

    def run(self, *, again: bool) -> ImportSummary:
        if self.log.is_file:
            line = self.log.first_line()
            if not line:
                return self.summary
            self.first_line = _hash_line(line)
            if not again:
                self.resume()
        position = _Position(self.summary.start_offset)
        damaged = None
        try:
            for dropped, lines in self.log.blocks():
                position = self.read(position, dropped, lines)
        except DamagedLog as failure:
            damaged = failure
        self.summary.has_partial_line = self.log.has_partial_line
        if self.summary.lines and not self.is_log():
            raise NotALog
        while self.pending:
            self.wait_for_oldest()
        self.save_position(
            _Position(min(position.offset, self.log.offset), position.last_line)
        )  # a last line may have no end
        if damaged:
            raise damaged
        return self.summary

    def resume(self) -> None:
        """Go to where the last import of this log ended, if the log is still the same there."""
        known = LogImport.objects.filter(project=self.project, first_line=self.first_line).first()
        if known is None:
            return
        before = self.log.seek_line(known.offset)
        if self.log.offset == known.offset and _hash_line(strip_line(before[-1])) == known.last_line:
            self.log.skip_line_end()
            self.summary.start_offset = self.log.offset
            for line in before:  # for the numbers of equal ones
                self.views.parse(line)
        else:
            self.log.seek_line(0)

    def is_log(self) -> bool:
        return self.summary.start_offset > 0 or self.summary.skipped[SkipReason.UNREADABLE] < self.summary.lines

    def read(self, position: _Position, dropped: int, lines: list[bytes]) -> _Position:
        """Send the views of some lines; returns the place after them."""
        summary, views, observations = self.summary, self.views, []
        safe = None  # where an import may go on when these are stored
        offset, last_line = position
        if dropped:
            offset, last_line = offset + dropped, None
            summary.lines += 1
            self.skip(SkipReason.UNREADABLE)
        for line in lines:
            summary.lines += 1
            before = views.minute
            view = views.parse(line)
            if isinstance(view, SkipReason):
                self.skip(view)
            else:
                observations.append(view)
                if views.minute != before:
                    safe = _Position(offset, last_line)
            offset, last_line = offset + len(line) + 1, line
        if observations:
            instants = [view.at for view in observations]
            summary.first = min([*instants, summary.first or instants[0]])
            summary.last = max([*instants, summary.last or instants[0]])
            self.pending.append((recording.send(self.project, observations), safe))
            if len(self.pending) > _MAX_PENDING:
                self.wait_for_oldest()
        summary.share = self.log.share()
        self.progress(summary)
        return _Position(offset, last_line)

    def skip(self, reason: SkipReason) -> None:
        self.summary.skipped[reason] += 1
        if reason is SkipReason.UNREADABLE and not self.summary.unreadable:
            self.summary.unreadable = self.summary.lines
        if self.summary.lines == _MAX_TRIED_LINES and not self.is_log():
            raise NotALog

    def wait_for_oldest(self) -> None:
        """Wait for the oldest batch."""
        future, safe = self.pending.popleft()
        receipt = future.result()
        self.summary.new += receipt.accepted + receipt.ignored
        self.summary.known += receipt.duplicates
        if safe and time.monotonic() > self.saved_at + _SAVE_SECONDS:
            self.save_position(safe)

    def save_position(self, position: _Position) -> None:
        """Keep that the log is imported up to there."""
        self.saved_at = time.monotonic()
        if self.log.is_file and position.last_line is not None:
            LogImport.objects.update_or_create(
                project=self.project,
                first_line=self.first_line,
                defaults={"offset": position.offset, "last_line": _hash_line(strip_line(position.last_line))},
            )


def _hash_line(line: bytes) -> str:
    """What a line is known by, of that which tells nothing of who read: this is kept for good.

    Keyed with the service's own key: a project's may change, and then its logs must not be taken for new ones.
    """
    request = formats.parse_line(formats.decode(line))
    if request is None or not request.target:
        text = str(len(line))
    else:
        path = request.target.partition("?")[0]
        text = "\n".join((request.time, request.method, path, request.status))
    return salted_hmac("analytics.logs.importing", text.encode("utf-8", "replace"), algorithm="sha256").hexdigest()
