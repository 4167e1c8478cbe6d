"""`manage.py backup`: a consistent copy of the database and the signing key, while the service runs."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from docsite.core.tenants.management.base import ServiceCommand
from docsite.extras.database_copy.backup import folder
from docsite.extras.database_copy.rows import BackupError


class Command(ServiceCommand):
    """Makes a backup in a new folder."""

    help = "Copy the database and the signing key into a new folder, while the service runs."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the folder."""
        parser.add_argument("folder", type=Path, help="it must not exist yet")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the backup."""
        try:
            manifest = folder.save(options["folder"])
        except BackupError as failure:
            raise CommandError(str(failure)) from None
        rows = manifest["rows"]
        number = f"{sum(rows.values()):,} rows in {len(rows)} tables"
        self.stdout.write(f"{options['folder']}: {number}, counted in the copy.")
        if not (options["folder"] / folder.KEY).exists():
            self.stdout.write("SECRET_KEY is set in the environment, so it is not in the backup. Store it, too.")
