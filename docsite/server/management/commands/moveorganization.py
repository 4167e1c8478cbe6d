"""`manage.py moveorganization`: an organization to another deployment, and back."""

import time
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError, InterfaceError

from docsite.core.tenants.management.base import ServiceCommand, check_migrations
from docsite.core.tenants.models import Organization
from docsite.server.backup.rows import BackupError
from docsite.server.move.address import VARIABLE, read_url
from docsite.server.placement import move, removal
from docsite.server.placement.deployments import PlacementError

PROGRESS_SECONDS = 5.0


class Command(ServiceCommand):
    """Runs where the organization lives now."""

    help = f"Move an organization to the deployment of the database in {VARIABLE}. Run it again if it was interrupted."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the organization, and what else can be done."""
        parser.add_argument("organization", help="its name, or the domain of a project of it")
        parser.add_argument("deployment", nargs="?", help="where it goes, as a check of the database")
        other = parser.add_mutually_exclusive_group()
        other.add_argument("--remove", action="store_true", help="delete the copy here, after it was moved away")
        other.add_argument("--cancel", action="store_true", help="give a move up that was interrupted")

    def handle(self, *args: Any, **options: Any) -> None:
        """Move it, remove its copy, or give the move up."""
        check_migrations()
        organization = _find(options["organization"])
        try:
            if options["remove"]:
                removal.remove(organization)
                self.stdout.write(f"The copy of {organization} is removed. It lives at {organization.deployment}.")
            elif options["cancel"]:
                move.cancel(organization, read_url())
                self.stdout.write(f"{organization} stays here, and is open again.")
            else:
                self._move(organization, options["deployment"])
        except (PlacementError, BackupError) as failure:
            raise CommandError(str(failure)) from None
        except (DatabaseError, InterfaceError) as failure:
            reason = " ".join(str(failure).split())
            raise CommandError(f"A database does not answer ({reason}). Run the command again to continue.") from None

    def _move(self, organization: Organization, name: str | None) -> None:
        if not name:
            raise CommandError("Name the deployment, too: moveorganization ORGANIZATION DEPLOYMENT")
        url = read_url()
        if (found := move.connect(url)[1].name) != name:
            raise CommandError(f"The database is that of the deployment {found}, not of {name}.")
        self._next = time.monotonic() + PROGRESS_SECONDS
        moved = move.move(organization, url, self._say, self._report)
        if not moved.rows:
            self.stdout.write(f"{organization} lives at {moved.deployment} already.")
        else:
            self.stdout.write(
                f"Moved {moved.rows:,} rows to {moved.deployment}, counted in both databases. "
                f"Nothing could be written for {moved.frozen_seconds:.1f} seconds, and until nginx has the new map."
            )
        self.stdout.write(
            "Next: give nginx the new map (manage.py nginxmap on the first deployment). When no request comes here any "
            f'more, delete the copy: manage.py moveorganization "{organization}" --remove'
        )

    def _say(self, sentence: str) -> None:
        self.stdout.write(sentence)
        self.stdout.flush()

    def _report(self, table: str, rows: int) -> None:
        if time.monotonic() > self._next:
            self._next = time.monotonic() + PROGRESS_SECONDS
            self._say(f"{table}: {rows:,} rows")


def _find(name: str) -> Organization:
    """The organization of a name or a domain. Raises CommandError."""
    found = Organization.objects.filter(name=name).first() or Organization.objects.filter(projects__domain=name).first()
    if found is None:
        raise CommandError(f"There is no organization {name}, and no project with this domain.")
    return found
