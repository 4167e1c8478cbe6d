"""`manage.py movedatabase`: all data into another database."""

import os
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from docsite import database_settings
from docsite.core import context
from docsite.core.signals import command_started
from docsite.core.tenants.management.base import check_migrations
from docsite.extras.database_copy.move.run import move
from docsite.extras.database_copy.rows import BackupError

PROGRESS_SECONDS = 5.0
VARIABLE = "NEW_DATABASE_URL"


class Command(BaseCommand):
    """Moves the data of SQLite to PostgreSQL, or back."""

    help = "Move all data to the database of a URL, and count it on both sides. All or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the address."""
        parser.add_argument(
            "url",
            nargs="?",
            help="of an empty database: postgres://user:password@host/name or sqlite:///path; without it, that of the "
            f"variable {VARIABLE}, which other users of the machine cannot see",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Move the data."""
        url = options["url"] or os.environ.get(VARIABLE, "")
        if not url.startswith(("postgres://", "postgresql://", "sqlite://")):
            raise CommandError(
                f"Name the new database by {VARIABLE}: postgres://user:password@host/name or sqlite:///path."
            )
        try:
            database_settings.describe(url, Path())
        except ValueError as wrong:
            raise CommandError(f"The address of the new database: {wrong}.") from None
        check_migrations()
        self._next = time.monotonic() + PROGRESS_SECONDS
        try:
            counts = move(url, self._record, self._report)
        except BackupError as failure:
            raise CommandError(str(failure)) from None
        except KeyboardInterrupt:
            raise CommandError("Stopped. The new database is empty.", returncode=130) from None
        except DatabaseError as failure:
            reason = " ".join(str(failure).split())
            raise CommandError(f"A database does not answer ({reason}). Run the command again.") from None
        self.stdout.write(f"Moved {sum(counts.values()):,} rows in {len(counts)} tables, counted in both databases.")
        self.stdout.write(
            "Set DATABASE_URL to the new database, leave SECRET_KEY or DATA_DIR/secret_key as it is, "
            "and start the service."
        )

    def _record(self) -> None:
        context.set_command_as_actor("movedatabase")
        command_started.send(type(self), name="movedatabase", domain="")

    def _report(self, table: str, rows: int, total: int) -> None:
        if time.monotonic() > self._next:
            self._next = time.monotonic() + PROGRESS_SECONDS
            self.stdout.write(f"{table}: {rows:,} of {total:,} rows")
