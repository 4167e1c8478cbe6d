"""`manage.py removesample DOMAIN`: remove the demo's invented readers from every page and count."""

from typing import Any

from django.core.management.base import CommandParser

from analytics.management.progress import ProgressLine
from analytics.sample import removal
from docsite.core.tenants.management.base import ServiceCommand, find_project


class Command(ServiceCommand):
    """Removes what `manage.py demo` invented. What readers did stays."""

    help = (
        "Remove the sample of a project: views, conversations, searches and feedback that the demo invented. What "
        "readers did stays."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The project."""
        parser.add_argument("domain", help="domain of the project")

    def handle(self, *args: Any, **options: Any) -> None:
        """Remove them, and print their number."""
        project = find_project(options["domain"])
        removed = removal.remove(project, ProgressLine(self.stdout, "  removed", "visitors"))
        self.stdout.write(f"{removed.views:,} sample views removed." if removed.views else "There are no sample views.")
        if any(removed[:-1]):
            others = (f"{number:,} {name}" for name, number in removed._asdict().items() if number and name != "views")
            self.stdout.write(f"Also removed: {', '.join(others)}.")
        self.stdout.write(f"See the report: /admin/analytics/pageview/visitors/{project.domain}")
