"""`manage.py createkey DOMAIN --kind KIND`: create an API key."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from docsite.core.tenants.management.base import ServiceCommand, find_project
from docsite.core.tenants.models import ApiKey


class Command(ServiceCommand):
    """Creates a key and prints it once."""

    help = "Create an API key: assistant keys open one project, admin keys its whole organization."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the project, the kind and the expiry."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument("--kind", required=True, choices=ApiKey.Kind.values)
        parser.add_argument("--name", default="", metavar="TEXT")
        expiry = parser.add_mutually_exclusive_group()
        expiry.add_argument("--expires-days", type=int, metavar="N", help="1 to 365; default: no expiry")
        expiry.add_argument("--no-expiry", action="store_true")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the key."""
        project = find_project(options["domain"])
        days = options["expires_days"]
        if days is not None and not 1 <= days <= 365:
            raise CommandError("--expires-days: must be 1 to 365.")
        if len(options["name"]) > 100:
            raise CommandError("--name: at most 100 characters.")
        key, token = ApiKey.issue(
            ApiKey.Kind(options["kind"]), project.organization, project, name=options["name"], days=days
        )
        if options["json"]:
            self.stdout.write(json.dumps({"id": key.pk, "key": token}))
            return
        self.stdout.write(
            f"id   {key.pk}\nkey  {token}\nThe key is not shown again. Revoke it: manage.py revokekey {key.pk}"
        )
