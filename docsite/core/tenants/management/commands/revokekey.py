"""`manage.py revokekey ID`: revoke a key forever."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from docsite.core.tenants.management.base import ServiceCommand
from docsite.core.tenants.models import ApiKey


class Command(ServiceCommand):
    """Revokes a key."""

    help = "Revoke an API key by its id. Running processes follow within two seconds."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the id of the key."""
        parser.add_argument("id", type=int, help="id as createkey and the admin show it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Revoke it."""
        key = ApiKey.objects.filter(pk=options["id"]).first()
        if key is None:
            raise CommandError(f"There is no key {options['id']}.")
        key.revoke()
        self.stdout.write(f"Key {key.pk} ({key}) is revoked.")
        domain = key.project.domain if key.project else "DOMAIN"
        self.stdout.write(f"Another one: manage.py createkey {domain} --kind {key.kind}")
