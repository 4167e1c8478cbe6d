"""`manage.py checkaudit`: check that no entry of the audit is missing or was changed."""

from typing import Any

from django.core.management.base import CommandError

from docsite.core.tenants.management.base import ServiceCommand
from docsite.core.tenants.models import Organization
from docsite.privacy import chain


class Command(ServiceCommand):
    """Follows the chain of each organization, and names the first wrong row of each."""

    help = "Check that no entry of the audit is missing or was changed. Names the first wrong row of each organization."

    def handle(self, *args: Any, **options: Any) -> None:
        """Check all chains. The command fails if one is broken."""
        names = dict(Organization.objects.values_list("pk", "name"))
        broken = 0
        for result in chain.check_chains():
            default = f"organization {result.chain}, deleted" if result.chain else "no organization"
            name = names.get(result.chain, default)
            if result.broken:
                broken += 1
                self.stdout.write(f"BROKEN  {name}: {result.broken}")
            else:
                self.stdout.write(f"Whole   {name}: {result.entries:,} entries, digest {result.digest}")
        if broken:
            raise CommandError(f"The audit is broken in {broken} of its chains.")
