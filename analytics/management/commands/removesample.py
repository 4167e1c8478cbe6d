"""`manage.py removesample DOMAIN`: remove the demo's invented views from every count."""

from typing import Any

from django.core.management.base import CommandParser

from analytics.counting import recount
from analytics.management.progress import ProgressLine
from docsite.core.tenants.management.base import ServiceCommand, find_project


class Command(ServiceCommand):
    """Removes the views that `manage.py demo` invented. Views of readers stay."""

    help = "Remove the sample views of a project from its reports, exports and counts. Real views stay."

    def add_arguments(self, parser: CommandParser) -> None:
        """The project."""
        parser.add_argument("domain", help="domain of the project")

    def handle(self, *args: Any, **options: Any) -> None:
        """Remove them, and print their number."""
        project = find_project(options["domain"])
        removed = recount.remove_sample(project, ProgressLine(self.stdout, "  removed", "visitors"))
        self.stdout.write(f"{removed:,} sample views removed." if removed else "There are no sample views.")
        self.stdout.write(f"See the report: /admin/analytics/pageview/visitors/{project.domain}")
