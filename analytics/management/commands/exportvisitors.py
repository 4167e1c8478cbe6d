"""`manage.py exportvisitors DOMAIN`: write a whole report, as CSV or JSON lines."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.template.defaultfilters import pluralize
from django.utils import timezone

from analytics.reports import exports, visitor_counts
from docsite.core.http import dates
from docsite.core.tenants.management.base import ServiceCommand, find_project


class Command(ServiceCommand):
    """Writes all rows of the export to standard output or into a file."""

    help = (
        "Write the unique visitors of a project, site-wide and for each page, as CSV or JSON lines. "
        "Dates are written as in the API: YYYY-MM-DD (00:00 UTC) or an ISO 8601 date-time."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The project, the range, and the output."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument(
            "--from", dest="start", metavar="DATE", help="start, inclusive; default: 30 days before the end"
        )
        parser.add_argument("--to", dest="end", metavar="DATE", help="end, exclusive; default: tomorrow 00:00 UTC")
        parser.add_argument("--views", action="store_true", help="count page views instead of visitors")
        parser.add_argument("--format", choices=("csv", "jsonl"), default="csv", help="default: csv")
        parser.add_argument("--output", type=Path, metavar="FILE", help="write this file; on errors the old one stays")

    def handle(self, *args: Any, **options: Any) -> None:
        """Count and write."""
        project = find_project(options["domain"])
        start, end = _date("--from", options["start"]), _date("--to", options["end"])
        try:
            start, end = dates.window(start, end, timezone.now())
        except ValueError:
            raise CommandError("--from: must be before --to.") from None
        output: Path | None = options["output"]
        if output and output.exists() and not output.is_file():
            raise CommandError(f"--output: {output} is not a file.")
        counts = (visitor_counts.count_views if options["views"] else visitor_counts.count_visitors)(
            project, start, end
        )
        lines = exports.format_report(counts, options["format"])
        try:
            if output is None:
                for chunk in lines:
                    self.stdout.write(chunk, ending="")
                return
            _replace(output.resolve(), lines)
        except BrokenPipeError:  # nobody reads the output
            raise
        except OSError as failure:
            raise CommandError(f"{output or 'standard output'}: {failure.strerror}.") from None
        what = "views" if options["views"] else "visitors"
        self.stdout.write(
            f"{output}: {len(counts) + 1} rows, {what} of the site and of {len(counts)} page{pluralize(len(counts))}, "
            f"{start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC"
        )


def _date(option: str, text: str | None) -> datetime | None:
    """The instant that an option names."""
    try:
        return None if text is None else dates.parse(text)
    except ValueError as wrong:
        raise CommandError(f"{option}: {wrong}.") from None


def _replace(file: Path, lines: Iterator[str]) -> None:
    """Write a draft beside the file, then put it in the file's place."""
    draft = file.with_name(f".{file.name}.{os.getpid()}.draft")
    try:
        with draft.open("w", encoding="utf-8", newline="") as out:
            out.writelines(lines)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
