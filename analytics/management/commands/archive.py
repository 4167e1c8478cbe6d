"""`manage.py archive`: write everything that waits for the archive now."""

import time
from collections import Counter
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from analytics.archive import folder, marker, writer
from docsite.core.tenants.management.base import ServiceCommand

SHOW_SECONDS = 1.0


class Command(ServiceCommand):
    """Archives as a serving process does, without waiting for full files."""

    help = (
        "Write all views and questions that are not in the archive into Parquet files in ARCHIVE_DIR, and make files "
        "again whose rows were erased. Every serving process does this by itself once there are enough rows, or a day "
        "has passed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument(
            "--forget",
            action="store_true",
            help="Forget the files and the folder. The service then changes these files no more, and an archive in an "
            "empty folder begins with what is in the database.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Archive or forget, and print what was done and what to do next."""
        if options["forget"]:
            self.forget()
            return
        if not (root := settings.ENV.archive_dir):
            raise CommandError("ARCHIVE_DIR is not set. Set it to a folder that the service may write.")
        self.began = self.shown_at = time.monotonic()
        self.files: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        try:
            writer.write_waiting(self.report)
        except (OSError, folder.ArchiveError) as failure:
            reason = str(failure).rstrip(".")
            raise CommandError(f"{reason}. Then run again: manage.py archive; what is written stays.") from None
        self.show(f"Archived {self.describe()}.")
        self.show("An answer is archived an hour after its question, when it is final.")
        self.show(f"The files are in {root}. Ask them with DuckDB, for example for the pages that people read most:")
        self.show(
            "  SELECT path, count(DISTINCT visitor) AS visitors\n"
            f"  FROM read_parquet('{root}/views/*/*.parquet', hive_partitioning = true)\n"
            "  WHERE class = 'human' GROUP BY path ORDER BY visitors DESC LIMIT 10;"
        )

    def forget(self) -> None:
        """Forget the files."""
        files, changes = marker.forget()
        self.show(
            f"Forgot {files:,} {'file' if files == 1 else 'files'}. Erasures and deletions that they lack: {changes:,}."
        )
        self.show("The files are yours now: the service does not change them any more. Delete them, or erase in them.")
        if settings.ENV.archive_dir:
            self.show("ARCHIVE_DIR is set, so a new archive begins as soon as that folder is empty.")

    def report(self, kind: str, rows: int) -> None:
        """After each file: print the progress, at most once a second."""
        self.files[kind] += 1
        self.rows[kind] += rows
        if time.monotonic() > self.shown_at + SHOW_SECONDS:
            self.shown_at = time.monotonic()
            self.show(f"  {self.describe()}")

    def describe(self) -> str:
        """The rows and files so far."""
        seconds = time.monotonic() - self.began
        rows = " and ".join(f"{self.rows[kind]:,} {kind}" for kind in ("views", "questions"))
        number = self.files.total()
        return f"{rows} in {number:,} {'file' if number == 1 else 'files'} and {seconds:.1f} s"

    def show(self, line: str) -> None:
        """Print a line, at once even if the output is not a terminal."""
        self.stdout.write(line)
        self.stdout.flush()
