"""`manage.py createkey DOMAIN --kind KIND`: create an API key."""

import argparse
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from docsite.core.tenants.management.base import ServiceCommand, find_project
from docsite.core.tenants.models import ApiKey
from docsite.core.tenants.validators import validate_networks


class Command(ServiceCommand):
    """Creates a key and prints it once."""

    help = "Create an API key: admin keys open a whole organization, the others one project."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the project, the kind, the limits and the expiry."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument("--kind", required=True, choices=ApiKey.Kind.values)
        parser.add_argument("--name", default="", metavar="TEXT")
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            choices=["read", "write"],
            help="what an admin key may do; may be repeated; default: everything",
        )
        parser.add_argument(
            "--network",
            action="append",
            default=[],
            metavar="CIDR",
            help="addresses that may use the key; may be repeated; default: all",
        )
        expiry = parser.add_mutually_exclusive_group()
        expiry.add_argument(
            "--expires",
            type=_parse_date,
            metavar="DATE",
            help="day (YYYY-MM-DD) at whose beginning in UTC the key expires",
        )
        expiry.add_argument(
            "--expires-days",
            type=int,
            metavar="N",
            help="number of days (1 to 365) after which the key expires; default: never",
        )
        expiry.add_argument("--no-expiry", action="store_true", help="the default, for scripts that name it")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the key."""
        project = find_project(options["domain"])
        days = options["expires_days"]
        if days is not None and not 1 <= days <= 365:
            raise CommandError("--expires-days: must be 1 to 365.")
        if len(options["name"]) > 100:
            raise CommandError("--name: at most 100 characters.")
        expires_at: datetime | None = timezone.now() + timedelta(days=days) if days else options["expires"]
        if expires_at and not timedelta(0) < expires_at - timezone.now() <= timedelta(days=365):
            raise CommandError("--expires: must be within the next 365 days.")
        if options["scope"] and options["kind"] != ApiKey.Kind.ADMIN:
            raise CommandError("--scope: only admin keys have scopes.")
        try:
            validate_networks(options["network"])
        except ValidationError as wrong:
            raise CommandError(f"--network: {' '.join(wrong.messages)}") from None
        key, token = ApiKey.issue(
            ApiKey.Kind(options["kind"]),
            project.organization,
            project,
            name=options["name"],
            expires_at=expires_at,
            scopes=options["scope"],
            networks=options["network"],
        )
        if options["json"]:
            self.stdout.write(json.dumps({"id": key.pk, "key": token}))
            return
        self.stdout.write(f"id   {key.pk}\nkey  {token}")
        if key.public_token:
            self.stdout.write(f"Put it into the embed tag, which the admin shows at {project.get_absolute_url()}")
        else:
            self.stdout.write("The key is not shown again. Send it as: Authorization: Bearer KEY")
        self.stdout.write(f"Revoke it: manage.py revokekey {key.pk}")


def _parse_date(text: str) -> datetime:
    """The beginning of a day in UTC, as a type of argparse."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise argparse.ArgumentTypeError("write a date such as 2027-03-01") from None
