"""`manage.py removesecondfactor USER`: let somebody who has lost app and recovery codes log in without a code."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from docsite.core.sign_on import sessions, two_factor
from docsite.core.tenants.management.base import ServiceCommand


class Command(ServiceCommand):
    """Removes the second factor of an account."""

    help = "Remove the two-factor log-in of a user who has lost the app and the recovery codes. Ask who calls you."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the user."""
        parser.add_argument("user", help="user name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Remove it."""
        user = get_user_model().objects.filter(username=options["user"]).first()
        if user is None or not two_factor.is_set_up(user):
            raise CommandError(f"There is no user {options['user']} with two-factor log-in.")
        two_factor.remove(user)
        sessions.end_sessions(user)
        self.stdout.write(f"{user} logs in without a code now. All open sessions of the account have ended.")
