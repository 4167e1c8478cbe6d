"""`manage.py reclassify`: count views anew by today's rules."""

from typing import Any

from django.core.management.base import CommandParser

from analytics import agents
from analytics.counting import recount
from analytics.management.progress import ProgressLine
from analytics.models import PageView
from docsite.core.tenants.management.base import ServiceCommand, find_project
from docsite.core.tenants.models import Project


class Command(ServiceCommand):
    """Classes views again after an upgrade that brought new rules."""

    help = (
        "Class the views that are not people's again, by the rules of this version, and put the counts right. Only "
        "single views can be, which are kept for RAW_VIEW_DAYS; people's user agents are not kept. Run it after an "
        "upgrade that says so. It may be interrupted and started again, while the service runs."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """One project, or all."""
        parser.add_argument("domain", nargs="?", help="domain of the project; default: all projects")

    def handle(self, *args: Any, **options: Any) -> None:
        """Count anew, and say what has moved."""
        projects = [find_project(options["domain"])] if options["domain"] else Project.objects.all()
        labels = dict(PageView.Class.choices)
        for project in projects:
            moved = recount.reclassify(project, ProgressLine(self.stdout, f"  {project.domain}", "clients"))
            self.stdout.write(f"{project.domain}: {moved.total():,} views changed class (rules {agents.VERSION})")
            for (before, after), views in moved.most_common():
                self.stdout.write(f"  {views:,} from {labels[before]} to {labels[after]}")
