"""`manage.py reclassify`: apply the current rules about AI clients and bots to views that are already stored."""

import time
from typing import Any

from django.core.management.base import CommandParser
from django.urls import reverse

from analytics import agents
from analytics.counting import recount
from analytics.models import PageView
from docsite.core.tenants.management.base import ServiceCommand, find_projects


class Command(ServiceCommand):
    """Classifies views again after an upgrade with new rules."""

    help = (
        "Classify the views of clients other than people again by the rules of this version, and correct the counts. "
        "This works for single views, which are kept for RAW_VIEW_DAYS. Run it after an upgrade whose notes ask for "
        "it. You can interrupt it and start it again, and the service may run meanwhile."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """One project, or all."""
        parser.add_argument("domain", nargs="?", help="domain of the project; default: all projects")

    def handle(self, *args: Any, **options: Any) -> None:
        """Classify again, and print what has changed."""
        labels = dict(PageView.Class.choices)
        self.shown_at = time.monotonic()
        for project in find_projects(options["domain"]):
            moved = recount.reclassify(project, self.show_progress)
            self.stdout.write(f"{project.domain}: {moved.total():,} views changed class (rules {agents.VERSION})")
            if removed := recount.remove_left_out(project):
                self.stdout.write(f"  {removed:,} removed, which the project leaves out")
            for (before, after), views in moved.most_common():
                self.stdout.write(f"  {views:,} from {labels[before]} to {labels[after]}")
            report = reverse("admin:analytics_visitors", args=[project.domain])
            self.stdout.write(f"See the report: {report}")

    def show_progress(self, done: int, total: int) -> None:
        """Print at most one line a second."""
        if time.monotonic() >= self.shown_at + 1:
            self.shown_at = time.monotonic()
            self.stdout.write(f"  {done:,} of {total:,} clients")
