"""`manage.py ingest DOMAIN SOURCE`: read a folder of Markdown or MDX into a project's index."""

import json
import time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from docsite.projects.management.base import ServiceCommand, project_named
from search.ingest import Refused, Summary, ingest
from search.sources.markdown_dir import read_folder, read_manifest


class Command(ServiceCommand):
    """Reads pages, skips what has not changed, and swaps the index in one step."""

    help = "Read a folder of Markdown or MDX into a project's index. Unchanged pages are skipped, vanished ones go."

    def add_arguments(self, parser: CommandParser) -> None:
        """The project, the folder, and an optional list of pages."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument("source", type=Path, help="folder of Markdown and MDX files")
        parser.add_argument(
            "--manifest",
            type=Path,
            help="JSON-lines file: path, file, format, title, language, version, tags",
        )
        parser.add_argument(
            "--strict", action="store_true", help="keep the old index when a golden question fails that did not before"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Ingest, and say what was done."""
        source: Path = options["source"]
        manifest: Path | None = options["manifest"]
        project = project_named(options["domain"])
        if not source.is_dir():
            raise CommandError(f"{source} is not a folder.")
        if manifest and not manifest.is_file():
            raise CommandError(f"{manifest} is not a file.")
        began = time.monotonic()
        show = (lambda line: None) if options["json"] else self.show
        pages = read_manifest(source, manifest) if manifest else read_folder(source)
        try:
            summary = ingest(project, pages, show, strict=options["strict"])
        except Refused as refused:
            self.warn(refused.summary)
            raise CommandError(f"{project.domain}: {refused}.") from None
        except ValueError as wrong:
            raise CommandError(f"{source}: {wrong}.") from None
        self.warn(summary)
        counts = {name: getattr(summary, name) for name in ("added", "changed", "unchanged", "removed", "sections")}
        if options["json"]:
            skipped = [{"file": bad.origin, "reason": bad.reason} for bad in summary.bad]
            warnings = [warned.sentence for warned in summary.warnings]
            self.stdout.write(json.dumps({**counts, "skipped": skipped, "warnings": warnings}))
            return
        told = ", ".join(f"{count} {name}" for name, count in counts.items() if name != "sections")
        self.stdout.write(
            f"{project.domain}: {told}, {len(summary.bad)} skipped "
            f"({summary.sections} sections written, {time.monotonic() - began:.1f} s)"
        )
        self.stdout.write(f"Try it: manage.py search {project.domain} 'your question'")

    def warn(self, summary: Summary) -> None:
        """What is wrong with single pages, and with the new index."""
        for bad in summary.bad:
            self.stderr.write(self.style.WARNING(f"  skipped {bad.origin}: {bad.reason}"))
        for warned in summary.warnings:
            self.stderr.write(self.style.WARNING(f"  {warned.sentence}"))

    def show(self, line: str) -> None:
        """A line of progress, at once even where it is not a terminal that reads it."""
        self.stdout.write(f"  {line}")
        self.stdout.flush()
