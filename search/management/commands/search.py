"""`manage.py search DOMAIN QUERY`: what a reader would find."""

from typing import Any

from django.core.management.base import CommandParser

from docsite.projects.management.base import ServiceCommand, project_named
from search.index import find


class Command(ServiceCommand):
    """Prints the hits of a query with their scores."""

    help = "Search a project's documentation from the command line."

    def add_arguments(self, parser: CommandParser) -> None:
        """The project and the query."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument("query")
        parser.add_argument("--limit", type=int, default=10)

    def handle(self, *args: Any, **options: Any) -> None:
        """Search."""
        project = project_named(options["domain"])
        hits = find(project, options["query"], limit=options["limit"])
        for hit in hits:
            self.stdout.write(f"{hit.score:.3f}  {' > '.join(hit.breadcrumb)}\n       {hit.url}")
        if not hits:
            self.stdout.write("Nothing found.")
