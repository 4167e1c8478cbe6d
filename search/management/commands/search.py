"""`manage.py search DOMAIN QUERY`: what a reader would find."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from docsite.projects.models import Project
from search.index import find


class Command(BaseCommand):
    """Prints the hits of a query with their scores."""

    help = "Search a project's documentation from the command line."

    def add_arguments(self, parser: CommandParser) -> None:
        """The project and the query."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument("query")
        parser.add_argument("--limit", type=int, default=10)

    def handle(self, *args: Any, **options: Any) -> None:
        """Search."""
        project = Project.objects.filter(domain=options["domain"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['domain']}.")
        hits = find(project, options["query"], limit=options["limit"])
        for hit in hits:
            self.stdout.write(f"{hit.score:.3f}  {' > '.join(hit.breadcrumb)}\n       {hit.url}")
        if not hits:
            self.stdout.write("Nothing found.")
