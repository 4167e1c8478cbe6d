"""`manage.py adddeployment NAME`: prepare an empty database for one more deployment of the service."""

import re
from typing import Any

from django.core.management.base import CommandError, CommandParser

from docsite.core.tenants.management.base import ServiceCommand, check_migrations
from docsite.server.backup.rows import BackupError
from docsite.server.move.address import VARIABLE, read_url
from docsite.server.placement import deployments

_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}")


class Command(ServiceCommand):
    """Makes the tables of an empty database, gives it a range of ids, and stores the deployment in both databases."""

    help = f"Add a deployment with a database of its own, which the variable {VARIABLE} names and which is empty."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add name and address."""
        parser.add_argument("name", help="a short name, such as second")
        parser.add_argument("--address", required=True, help="where nginx reaches it, such as 10.0.0.12:8000")

    def handle(self, *args: Any, **options: Any) -> None:
        """Add it, and say what to do next."""
        name, address = options["name"], options["address"]
        if not re.fullmatch(r"[a-z0-9-]{1,40}", name):
            raise CommandError("The name has lower-case letters, digits and hyphens.")
        if not _ADDRESS.fullmatch(address):
            raise CommandError("Write the address as HOST:PORT.")
        url = read_url()
        check_migrations()
        try:
            deployments.add(name, address, url)
        except (deployments.PlacementError, BackupError) as failure:
            raise CommandError(str(failure)) from None
        self.stdout.write(
            f"The deployment “{name}” is ready. Next:\n"
            f"1. Start the same release at {address}, with this database as DATABASE_URL and the same SECRET_KEY. "
            "REDIS_URL, VIEW_LOG_URL and ARCHIVE_DIR must be its own.\n"
            f"2. Move an organization: manage.py moveorganization NAME {name}\n"
            "3. Give nginx the new map: manage.py nginxmap"
        )
