"""`manage.py restore`: a backup into an empty database."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from docsite.extras.database_copy.backup import folder
from docsite.extras.database_copy.rows import BackupError


class Command(BaseCommand):
    """Restores a backup. No table exists yet, so the audit does not record it."""

    help = "Restore a backup into an empty database, and count its rows."
    requires_system_checks: list[str] = []  # noqa: RUF012  # as Django declares it

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the folder."""
        parser.add_argument("folder", type=Path, help="that backup has made")

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore the backup."""
        try:
            manifest = folder.load(options["folder"])
        except BackupError as failure:
            raise CommandError(str(failure)) from None
        except OperationalError as failure:
            raise CommandError(f"The database cannot be used ({' '.join(str(failure).split())}).") from None
        rows = manifest["rows"]
        number = f"{sum(rows.values()):,} rows in {len(rows)} tables"
        self.stdout.write(f"Restored the backup of {manifest['created_at']}: {number}, as many as were saved.")
        self.stdout.write("If it is from an older release, run migrate. Then start the service.")
