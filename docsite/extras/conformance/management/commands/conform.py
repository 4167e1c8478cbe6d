"""`manage.py conform`: checks whether any running service speaks this HTTP contract."""

from typing import Any

import httpx
from django.core.management.base import CommandError, CommandParser

from docsite.core.tenants.management.base import ServiceCommand
from docsite.extras.conformance.runner import run_checks
from docsite.extras.conformance.service import Service

TIMEOUT = 60.0  # seconds without a byte


class Command(ServiceCommand):
    """Asks, searches and reads reports as a client would, and says what differs from the contract."""

    help = "Check whether a running service speaks this HTTP contract. It asks about 20 questions."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the address, the domain and the keys."""
        parser.add_argument("url", help="address of the service, without /discovery")
        parser.add_argument("--domain", required=True)
        parser.add_argument("--key", required=True, help="assistant key of the domain")
        parser.add_argument("--admin-key", default="", help="with --project: check analytics, too")
        parser.add_argument("--project", default="", help="project ID")
        parser.add_argument("--question", default="How do I get started?", help="one that the pages answer")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the checks. Fails if the service breaks one."""
        failed = total = 0
        section = ""
        with httpx.Client(base_url=options["url"].rstrip("/"), timeout=TIMEOUT) as client:
            names = ("domain", "key", "question", "admin_key")
            service = Service(client, **{name: options[name] for name in names}, project_id=options["project"])
            for result in run_checks(service):
                if result.section != section:
                    section = result.section
                    self.stdout.write(f"\n{section}")
                self.stdout.write(f"  {'FAIL' if result.problem else 'ok  '}  {result.rule}")
                if result.problem:
                    self.stdout.write(f"        {result.problem}")
                total += 1
                failed += bool(result.problem)
        if not (options["admin_key"] and options["project"]):
            self.stdout.write("\nAnalytics were not checked: that needs --admin-key and --project.")
        if failed:
            raise CommandError(f"{failed} of {total} checks failed.")
        self.stdout.write(f"\nAll {total} checks passed.")
