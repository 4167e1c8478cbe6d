"""`manage.py nginxmap`: where each project lives, for nginx."""

import os
from typing import Any

from django.core.management.base import CommandError

from docsite.core.tenants.management.base import ServiceCommand, check_migrations
from docsite.server.backup.rows import BackupError
from docsite.server.move.address import VARIABLE, read_url
from docsite.server.placement import nginx_map
from docsite.server.placement.deployments import PlacementError


class Command(ServiceCommand):
    """Prints lines of a `map`, for the file that the site of nginx includes."""

    help = (
        "Print where the projects live that were moved, for nginx. With the database of a deployment in "
        f"{VARIABLE}, also those that were made there."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the lines."""
        check_migrations()
        if os.environ.get(VARIABLE):
            try:
                nginx_map.adopt(read_url())
            except (PlacementError, BackupError) as failure:
                raise CommandError(str(failure)) from None
        for line in nginx_map.build():
            self.stdout.write(line)
