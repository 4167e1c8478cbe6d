"""Import access logs, each from the offset at which its last import ended.

The offset is saved after the views before it are committed, and only where the minute changes. So
the lines of one minute are always numbered from the first one, and an import that is killed
and started again stores the same views. A view that was stored before is known by its id.
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

from analytics.collecting import recording, writer
from analytics.collecting.writer import Receipt
from analytics.models import LogImport
from docsite.core.tenants.models import Project
from docsite.extras.access_logs import formats
from docsite.extras.access_logs.compression import DamagedLog
from docsite.extras.access_logs.files import LogFile, strip_line
from docsite.extras.access_logs.lines import MAX_LINE_BYTES, UNKNOWN, SkipReason, ViewParser
from search import missing_pages
from search.missing_pages import MissingRequest

_MAX_PENDING = 3  # batches that wait for storage while the next one is read
_SAVE_SECONDS = 1.0  # between two saves of the offset
_MAX_TRIED_LINES = 1_000  # if none of so many first lines can be parsed, the log cannot be read


class UnreadableLog(Exception):
    """Of none of the first lines it can be told whether it is a view. Nothing was imported."""

    def __init__(self, summary: "ImportSummary") -> None:
        super().__init__(summary)
        self.summary = summary


@dataclass
class ImportSummary:
    """The result of an import: the number of lines by what they were."""

    start_offset: int = 0  # byte
    lines: int = 0
    new: int = 0
    known: int = 0
    skipped: Counter[SkipReason] = field(default_factory=Counter)
    first_lines: dict[SkipReason, int] = field(default_factory=dict)  # that were skipped for it
    first: datetime | None = None
    last: datetime | None = None
    share: float = 0.0  # of the file, read so far
    has_partial_line: bool = False  # the last line has no end yet
    first_unknown: bytes = b""  # the first line that may be a view and cannot be read, and the first comment
    first_comment: bytes = b""


class _Position(NamedTuple):
    """An offset between two lines, and the line before it if it is known."""

    offset: int
    last_line: bytes | None = None


def create_parser(project: Project, *, people: bool = True) -> ViewParser:
    """The parser of log lines for a project."""
    return ViewParser(project.docs_url, project.allowed_origins, people=people)


def first_view_time(path: Path, views: ViewParser) -> datetime | None:
    """The time of the first view of a log, or None when its first lines have no view."""
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
    """Record the views of a log that are not stored yet. `progress` is called after each batch.

    `again`: import from the beginning. Views that are stored already do not count twice.
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
        self.again = False
        self.saved_at = time.monotonic()

    def run(self, *, again: bool) -> ImportSummary:
        self.again = again
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
            for too_long, lines in self.log.blocks():
                position = self.queue_views(position, too_long, lines)
        except DamagedLog as failure:
            damaged = failure
        self.summary.has_partial_line = self.log.has_partial_line
        if not self.is_readable():
            raise UnreadableLog(self.summary)
        while self.pending:
            self.wait_for_oldest()
        self.save_position(
            _Position(min(position.offset, self.log.offset), position.last_line)
        )  # the last line may have no end
        if damaged:
            raise damaged
        return self.summary

    def resume(self) -> None:
        """Continue where the last import of this log ended, if the line before is still the same."""
        known = LogImport.objects.filter(project=self.project, first_line=self.first_line).first()
        if known is None:
            return
        before = self.log.seek_line(known.offset)
        if self.log.offset == known.offset and _hash_line(strip_line(before[-1])) == known.last_line:
            self.log.skip_line_end()
            self.summary.start_offset = self.log.offset
            for line in before:  # to number equal lines
                self.views.parse(line)
        else:
            self.log.seek_line(0)

    def is_readable(self) -> bool:
        if not self.summary.lines:
            is_whole = self.log.is_finished() or self.log.is_binary
            return not (self.log.has_partial_line and is_whole) or self.summary.start_offset > 0
        requests = self.summary.lines - self.summary.skipped[SkipReason.COMMENT]
        return not requests or sum(self.summary.skipped[reason] for reason in UNKNOWN) < requests

    def queue_views(self, position: _Position, too_long: int, lines: list[bytes]) -> _Position:
        """Queue the views of some lines for storage. Returns the position after them.

        `too_long` is the size of a skipped line before them, or 0.
        """
        summary, views, observations, missed = self.summary, self.views, [], list[MissingRequest]()
        resume_position = None  # where an import may continue after these views are stored
        offset, last_line = position
        if too_long:
            offset, last_line = offset + too_long, None
            summary.lines += 1
            self.skip(SkipReason.UNREADABLE)
        for line in lines:
            summary.lines += 1
            before = views.minute
            view = views.parse(line)
            if asked := views.missed:
                path = self.project.path_of(asked.raw_path)
                missed.append(MissingRequest(path, asked.at, asked.user_agent, asked.referrer))
            if isinstance(view, SkipReason):
                self.skip(view, line)
            elif recording.find_left_out(self.project, view):
                self.skip(SkipReason.LEFT_OUT)
            else:
                observations.append(view)
                if views.minute != before:
                    resume_position = _Position(offset, last_line)
            offset, last_line = offset + len(line) + 1, line
        if missed and not self.again:  # they are only added up: from the beginning, they would count twice
            missing_pages.record(self.project, missed)
            missing_pages.flush()
        if observations:
            instants = [view.at for view in observations]
            summary.first = min([*instants, summary.first or instants[0]])
            summary.last = max([*instants, summary.last or instants[0]])
            # Not into the view log, which could not tell which views are known.
            stored = writer.submit(self.project.pk, recording.build_views(self.project, observations))
            self.pending.append((stored, resume_position))
            if len(self.pending) > _MAX_PENDING:
                self.wait_for_oldest()
        summary.share = self.log.share()
        self.progress(summary)
        return _Position(offset, last_line)

    def skip(self, reason: SkipReason, line: bytes = b"") -> None:
        self.summary.skipped[reason] += 1
        if reason in UNKNOWN:
            self.summary.first_unknown = self.summary.first_unknown or line[:MAX_LINE_BYTES]
        if reason is SkipReason.COMMENT:
            self.summary.first_comment = self.summary.first_comment or line
        self.summary.first_lines.setdefault(reason, self.summary.lines)
        if self.summary.lines == _MAX_TRIED_LINES and not self.is_readable():
            raise UnreadableLog(self.summary)

    def wait_for_oldest(self) -> None:
        """Wait until the oldest batch is stored."""
        future, resume_position = self.pending.popleft()
        receipt = future.result()
        self.summary.new += receipt.accepted + receipt.ignored
        self.summary.known += receipt.duplicates
        if resume_position and time.monotonic() > self.saved_at + _SAVE_SECONDS:
            self.save_position(resume_position)

    def save_position(self, position: _Position) -> None:
        """Save that the log is imported up to a position."""
        self.saved_at = time.monotonic()
        if self.log.is_file and position.last_line is not None:
            LogImport.objects.update_or_create(
                project=self.project,
                first_line=self.first_line,
                defaults={"offset": position.offset, "last_line": _hash_line(strip_line(position.last_line))},
            )


def _hash_line(line: bytes) -> str:
    """A keyed hash by which a line is recognized. It uses no data about the reader, since it is kept forever.

    The key is that of the service: the key of a project may change, and its logs must still be recognized.
    """
    request = formats.parse_line(formats.decode(line))
    if request is None or not request.target:
        text = str(len(line))
    else:
        path = request.target.partition("?")[0]
        text = "\n".join((request.time, request.method, path, request.status))
    return salted_hmac("analytics.logs.importing", text.encode("utf-8", "replace"), algorithm="sha256").hexdigest()
