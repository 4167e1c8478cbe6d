"""`manage.py allowpasswords ORGANIZATION`: open an organization to log-ins by password again."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from docsite.core.tenants.management.base import ServiceCommand
from docsite.core.tenants.models import Organization


class Command(ServiceCommand):
    """Ends the duty of single sign-on."""

    help = "Let members of an organization log in by password again, such as when the provider is away for long."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the name of the organization."""
        parser.add_argument("organization", help="its name, as the admin shows it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Change the row."""
        organization = Organization.objects.filter(name=options["organization"]).first()
        if organization is None:
            raise CommandError(f"There is no organization {options['organization']}.")
        organization.requires_single_sign_on = False
        organization.save(update_fields=["requires_single_sign_on"])
        self.stdout.write(f"Members of {organization} may log in by password.")
