"""`manage.py reindex [DOMAIN]`: build the index again from the stored pages."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.template.defaultfilters import pluralize

from docsite.core.tenants.management.base import ServiceCommand, find_projects
from search.indexing.ingest import reindex
from search.indexing.outcome import IngestSuperseded
from search.models import Document


class Command(ServiceCommand):
    """Indexes the stored pages again, and swaps the new index in. Readers notice nothing."""

    help = (
        "Index the stored pages of one project or of all projects again. `migrate` does it when a new release needs it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The project."""
        parser.add_argument("domain", nargs="?", help="domain of the project; all of them without it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Index the stored pages again."""
        for project in find_projects(options["domain"]):
            if not Document.indexed.filter(project=project).exists():
                self.stdout.write(f"{project.domain}: nothing was ingested yet")
                continue
            try:
                summary = reindex(project, lambda line: self.stdout.write(f"  {line}"))
            except IngestSuperseded as other:
                raise CommandError(f"{project.domain}: {other}.") from None
            for warning in summary.warnings:
                self.stderr.write(self.style.WARNING(f"  {warning.sentence}"))
            pages, parts = summary.changed, summary.sections
            counts = f"{pages} page{pluralize(pages)}, {parts} section{pluralize(parts)}"
            self.stdout.write(f"{project.domain}: {counts} indexed again")
            self.stdout.write(f"Try it: manage.py search {project.domain} 'your question'")
