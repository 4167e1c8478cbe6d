"""`manage.py removesample DOMAIN`: take the demo's made-up views out of every count."""

from typing import Any

from django.core.management.base import CommandParser

from analytics.counting import recount
from analytics.management.progress import ProgressLine
from docsite.core.tenants.management.base import ServiceCommand, find_project


class Command(ServiceCommand):
    """Removes what `manage.py demo` made up, and leaves what readers did."""

    help = "Remove the sample views of a project from its reports, exports and counts. Real views stay."

    def add_arguments(self, parser: CommandParser) -> None:
        """The project."""
        parser.add_argument("domain", help="domain of the project")

    def handle(self, *args: Any, **options: Any) -> None:
        """Remove, and say how many there were."""
        project = find_project(options["domain"])
        removed = recount.remove_sample(project, ProgressLine(self.stdout, "  removed", "visitors"))
        self.stdout.write(f"{removed:,} sample views removed." if removed else "There are no sample views.")
        self.stdout.write(f"What is left: /admin/analytics/pageview/visitors/{project.domain}")
