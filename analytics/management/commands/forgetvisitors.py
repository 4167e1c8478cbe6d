"""`manage.py forgetvisitors DOMAIN`: delete the keys of a project's visitor hashes."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from analytics.identity import key_rotation
from docsite.core.tenants.management.base import ServiceCommand, find_project


class Command(ServiceCommand):
    """Unlinks the past: without its key no hash can be made again, or held against an address."""

    help = (
        "Delete the keys of a project's visitor hashes, and make a new one. Reports stay as they are. Nobody can tell "
        "any more who a visitor of the past was, not even with an address at hand; so whoever comes again counts as a "
        "new visitor, and a view that is sent again counts again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The project, and that it is meant."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument("--yes", action="store_true", help="do it: it cannot be undone")

    def handle(self, *args: Any, **options: Any) -> None:
        """Forget."""
        project = find_project(options["domain"])
        if not options["yes"]:
            raise CommandError(f"This cannot be undone. Do it with: manage.py forgetvisitors {project.domain} --yes")
        key_rotation.forget(project)
        self.stdout.write(f"{project.domain}: the keys are gone. Running processes follow within seconds.")
