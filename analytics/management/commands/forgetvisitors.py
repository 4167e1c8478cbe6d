"""`manage.py forgetvisitors DOMAIN`: delete the keys of a project's visitor hashes."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from analytics.identity import key_rotation
from docsite.core.tenants.management.base import ServiceCommand, find_project


class Command(ServiceCommand):
    """Unlinks old hashes: without the key no hash can be computed again, or compared with an address."""

    help = (
        "Delete the keys of a project's visitor hashes, and create a new one. Reports stay as they are. Afterwards "
        "nobody can find out who a past visitor was, even if they know the address. So a visitor who returns counts "
        "as new, and a view that is sent again counts again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The project, and a confirmation."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument("--yes", action="store_true", help="confirm: it cannot be undone")

    def handle(self, *args: Any, **options: Any) -> None:
        """Forget."""
        project = find_project(options["domain"])
        if not options["yes"]:
            raise CommandError(f"This cannot be undone. To do it: manage.py forgetvisitors {project.domain} --yes")
        key_rotation.forget(project)
        self.stdout.write(f"{project.domain}: the keys were deleted. Running processes follow within seconds.")
        self.stdout.write(
            f"Single views are still stored. To erase them: manage.py erase {project.domain} --everything"
        )
