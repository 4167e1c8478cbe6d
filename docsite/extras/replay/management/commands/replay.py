"""`manage.py replay DOMAIN FOLDER`: what a folder would do to the questions that readers really asked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from assistant.improving.question_groups import grouping
from docsite.core.tenants.management.base import ServiceCommand, find_project
from docsite.core.tenants.models import Project
from docsite.extras.replay import comment
from docsite.extras.replay.asked import DAYS, find_asked
from docsite.extras.replay.comparison import compare
from search.indexing import storable
from search.models import Source
from search.pushes import run as pushes
from search.stored_sources import runs


class Command(ServiceCommand):
    """Replays the questions of readers against a folder, and stores nothing but what the admin shows of it."""

    help = (
        f"Answer what readers asked and searched for in the last {DAYS} days, with the present pages and with those of "
        "a folder, without a model. Prints which questions would lose or win their answer. The exit status is 1 if one "
        "would lose it. Nothing is published."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The project and the folder."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument("folder", type=Path, help="the documentation after the change")
        parser.add_argument("--name", help="the source that it would replace, where the project has several")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Replay, and print the result."""
        project, folder = find_project(options["domain"]), options["folder"].resolve()
        if not folder.is_dir():
            raise CommandError(f"{options['folder']} is not a folder.")
        source = _find_source(project, options["name"])
        try:
            replay, markdown = _preview(project, source, folder, self.stderr.write)
        except Exception as error:
            if not runs.is_user_error(error):
                raise
            raise CommandError(f"{project.domain}: {storable.clean_text(str(error)).rstrip('.')}.") from None
        self.stdout.write(json.dumps(replay) if options["json"] else markdown)
        if replay["lost"]:
            raise SystemExit(1)


def _find_source(project: Project, name: str | None) -> Source:
    """The source that the folder would replace: that of the name, or the only one. A new one where there is none."""
    sources = list(project.sources.all() if name is None else project.sources.filter(name=name))
    if len(sources) > 1:
        names = ", ".join(source.name or "''" for source in sources)
        raise CommandError(f"{project.domain} has several sources. Name one with --name: {names}.")
    if not sources and name:
        raise CommandError(f"{project.domain} has no source {name}.")
    return sources[0] if sources else Source(project=project, by_command=True)


def _preview(
    project: Project, source: Source, folder: Path, progress: Callable[[str], None]
) -> tuple[dict[str, Any], str]:
    """The replay of the folder in the place of a source, as a JSON object and as Markdown. Raises ValueError."""
    due_at = source.due_at
    grouping.catch_up()
    pushes.claim(source, progress)
    try:
        summary, _ = runs.preview(source, folder)
    finally:  # the claim has taken it out of the queue
        Source.objects.filter(pk=source.pk, due_at=None).update(due_at=due_at)
    effects = {effect.name: effect.facts for effect in summary.effects}
    if "replay" in effects:
        return effects["replay"], effects["replayComment"]["markdown"]
    replay = compare(project, find_asked(project), None)  # no page changes, or nobody asked
    return replay.to_json(), "\n".join(comment.describe_replay(replay))
