"""`manage.py importlog DOMAIN FILE...`: import page views from access logs."""

import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import IntegrityError
from django.urls import reverse

from analytics.counting import background, sealer
from docsite.core.tenants.management.base import ServiceCommand, find_project
from docsite.core.tenants.models import Project
from docsite.extras.access_logs import formats, refusals
from docsite.extras.access_logs.compression import DamagedLog, UnknownCompression
from docsite.extras.access_logs.files import LogFile
from docsite.extras.access_logs.importing import (
    ImportSummary,
    UnreadableLog,
    create_parser,
    first_view_time,
    import_log,
)
from docsite.extras.access_logs.lines import UNKNOWN, SkipReason

SHOW_SECONDS = 3.0
UNREADABLE = 2  # the exit status for a log that cannot be read


class Command(ServiceCommand):
    """Imports logs and counts their views, so that the reports are up to date at its end."""

    help = (
        "Record the page views in access logs, also of agents and of Markdown. Reads the combined and common format of "
        "nginx and Apache, JSON lines, CloudFront, load balancers of AWS and HAProxy, also from Docker, Kubernetes and "
        "syslog, and compressed with gzip, bzip2, xz or zstd. Importing a log twice changes nothing. If an "
        "import was stopped, or the log has grown, it continues where the last import ended. Import old logs before "
        "new ones; several files are sorted by their first views."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The project and its logs."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument("files", nargs="+", metavar="FILE", help="access log or pipe; - for standard input")
        parser.add_argument(
            "--again",
            action="store_true",
            help="import from the beginning again, to correct a mistake such as a missing allowed origin. Views whose "
            "ids are still stored do not count twice",
        )
        parser.add_argument(
            "--without-people",
            dest="people",
            action="store_false",
            help="leave out the views of people, if the view script counts them in their browsers",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, count, and print what to do next."""
        project = find_project(options["domain"])
        self.people: bool = options["people"]
        self.again: bool = options["again"]
        self.summaries: list[ImportSummary] = []
        try:
            paths = _paths(options["files"], project)
            background.thread.start()
            for path in paths:
                self.import_file(project, path)
            self.finish(project)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the views read so far are still stored
            raise CommandError("Stopped. Run it again to continue where it ended.", returncode=130) from None
        except IntegrityError:
            raise CommandError(f"The project {project.domain} was deleted meanwhile.") from None

    def import_file(self, project: Project, path: Path | None) -> None:
        """Import one log, and print a line about it."""
        name = str(path or "Standard input")
        self.began = self.shown_at = time.monotonic()
        try:
            with LogFile(path) as log:
                views = create_parser(project, people=self.people)
                summary = import_log(project, log, views, self.progress, again=self.again)
        except UnreadableLog as failure:
            reason = f"{_explain(failure.summary)} Nothing was imported."
            raise CommandError(f"{name}: {reason}", returncode=UNREADABLE) from None
        except DamagedLog:
            raise CommandError(
                f"{name}: ends too early or is damaged. What could be unpacked was imported; "
                "import it again when it is whole.",
                returncode=UNREADABLE,
            ) from None
        except UnknownCompression as failure:
            raise CommandError(f"{name}: {failure} Nothing was imported.", returncode=UNREADABLE) from None
        except BrokenPipeError:  # nobody reads the output
            raise
        except OSError as failure:
            raise CommandError(f"{name}: {failure.strerror}.", returncode=UNREADABLE) from None
        self.summaries.append(summary)
        self.stdout.write(f"{name}: {_describe(summary)}")

    def finish(self, project: Project) -> None:
        """Count the new views, and print where to see them."""
        sealer.seal(timeout=float("inf"))
        first = min((summary.first for summary in self.summaries if summary.first), default=None)
        last = max((summary.last for summary in self.summaries if summary.last), default=None)
        if first and last:
            report = reverse("admin:analytics_visitors", args=[project.domain])
            dates = f"--from {first:%Y-%m-%d} --to {last + timedelta(days=1):%Y-%m-%d}"
            self.stdout.write(f"See the reports: manage.py exportvisitors {project.domain} {dates}")
            self.stdout.write(f"In the admin: {report}")

    def progress(self, summary: ImportSummary) -> None:
        """Print a line every few seconds."""
        now = time.monotonic()
        if now > self.shown_at + SHOW_SECONDS:
            self.shown_at = now
            share = f"{summary.share:4.0%}  " if summary.share else ""
            self.stdout.write(f"  {share}{summary.lines:,} lines ({summary.lines / (now - self.began):,.0f} lines/s)")


def _paths(names: list[str], project: Project) -> list[Path | None]:
    """The logs in the order of their first views, or as they were named if one is a pipe; None is standard input."""
    if "-" in names:
        if len(names) > 1:
            raise CommandError("-: standard input cannot be imported together with files.")
        return [None]
    paths = [Path(name) for name in names]
    for path in paths:
        if path.exists() and not path.is_file() and not path.is_fifo():
            what = "a folder" if path.is_dir() else "no file"
            message = f"{path}: is {what}. Name log files, or - for standard input."
            raise CommandError(message, returncode=UNREADABLE)
    if any(path.is_fifo() for path in paths):
        return [*paths]
    found: list[tuple[datetime, Path]] = []
    for path in paths:
        try:
            found.append((first_view_time(path, create_parser(project)) or datetime.min.replace(tzinfo=UTC), path))
        except (DamagedLog, UnknownCompression):
            found.append((datetime.min.replace(tzinfo=UTC), path))
        except OSError as failure:
            raise CommandError(f"{path}: {failure.strerror}.", returncode=UNREADABLE) from None
    return [path for _, path in sorted(found)]


def _describe(summary: ImportSummary) -> str:
    """A sentence with the result of an import."""
    left = " Its last line has no end yet and is left for the next import." if summary.has_partial_line else ""
    if not summary.lines:
        nothing = "nothing new since the last import (--again reads it from its beginning)"
        return f"{nothing if summary.start_offset else 'holds no whole line' if left else 'holds no line'}.{left}"
    views = summary.new + summary.known
    parts = [f"{views:,} view{'s' * (views != 1)} ({summary.new:,} new, {summary.known:,} known already)"]
    parts += _list_skipped(summary)
    lines = f"{summary.lines:,} line{'s' * (summary.lines != 1)}{' since the last import' * (summary.start_offset > 0)}"
    return f"{lines}: {', '.join(parts)}.{left}"


def _list_skipped(summary: ImportSummary) -> list[str]:
    """How many lines were skipped for each reason, and where to look at those that may have been views."""
    reasons = [reason for reason in SkipReason if summary.skipped[reason]]
    return [
        f"{summary.skipped[reason]:,} {reason}"
        + (f" (first: line {summary.first_lines[reason]:,})" if reason in UNKNOWN else "")
        for reason in sorted(reasons, key=UNKNOWN.__contains__)
    ]


def _explain(summary: ImportSummary) -> str:
    """Why a log cannot be read."""
    if not summary.lines:
        return "not an access log: it holds no whole line."
    known = refusals.explain(formats.decode(summary.first_unknown), formats.decode(summary.first_comment))
    skipped = f"{summary.lines:,} lines, {', '.join(_list_skipped(summary))}"
    if known:
        return f"cannot be read: {known}. ({skipped}.)"
    if summary.skipped[SkipReason.UNREADABLE] + summary.skipped[SkipReason.COMMENT] == summary.lines:
        return "not an access log: none of its lines is in a format that is read."
    return f"cannot be read: {skipped}."
