"""`manage.py ingest DOMAIN [SOURCE]`: read documentation into a project's index."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.template.defaultfilters import pluralize

from docsite.core.tenants.management.base import ServiceCommand, project_named
from docsite.core.tenants.models import Project
from search.indexing import storable
from search.indexing.ingest import Refused, Summary, ingest
from search.models import Source
from search.sources import generators
from search.sources.registry import read
from search.stored import runs

OPTIONS = ("generator", "under", "version", "language")
MOST_SKIPPED = 20  # that are named; --json has them all
LOOK_SECONDS = 1.0


class Command(ServiceCommand):
    """Reads pages, skips what has not changed, and swaps the index in one step."""

    help = (
        "Read documentation into a project's index: a folder, an archive, an OpenAPI document, an llms.txt, or an "
        "https:// address of one of these or of a site. Unchanged pages are skipped, vanished ones go. With --name "
        "the source is stored, beside the project's others; without SOURCE what is stored is read again."
    )

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        """A parser whose --version is the documentation's, not Django's."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **options)

    def add_arguments(self, parser: CommandParser) -> None:
        """The project, where its pages are, and what they do not say themselves."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument("source", nargs="?", default="", help="folder, archive, file, or https:// address")
        parser.add_argument("--name", default="", help="store the source under this name, or read the one of this name")
        parser.add_argument("--manifest", type=Path, help="JSON-lines file that names the pages of a folder")
        parser.add_argument("--generator", choices=("", *generators.NAMES), help="what renders the site")
        parser.add_argument("--under", help="where its pages begin, such as /api")
        parser.add_argument("--version", help="of pages that name none")
        parser.add_argument("--language", help="of pages that name none")
        parser.add_argument(
            "--strict", action="store_true", help="keep the old index when a golden question fails that did not before"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object, or a list of them")

    def handle(self, *args: Any, **options: Any) -> None:
        """Ingest, and say what was done."""
        self.quiet: bool = options["json"]
        self.strict: bool = options["strict"]
        project = project_named(options["domain"])
        given = {name: options[name] for name in OPTIONS if options[name] is not None}
        location = _place(options["source"])
        if (manifest := options["manifest"]) and (options["name"] or not Path(location).is_dir()):
            raise CommandError("--manifest needs a folder as SOURCE, and no --name.")
        if manifest and not manifest.is_file():
            raise CommandError(f"{manifest} is not a file.")
        if options["name"]:
            told = self._stored(_source(project, options["name"], location, given))
        elif location:
            told = self._unnamed(project, location, manifest, given)
        elif given:
            raise CommandError(f"--{next(iter(given))} needs a SOURCE or a --name.")
        else:
            self._all(project)
            return
        if self.quiet:
            self.stdout.write(json.dumps(told))
        else:
            self._say_next(project)

    def _unnamed(self, project: Project, location: str, manifest: Path | None, given: dict[str, Any]) -> dict[str, Any]:
        """Read what is not stored, in place of what was read so before."""

        def request() -> Summary:
            told = runs.reading_of(project, None, location, manifest=manifest, progress=self.show, **given)
            return ingest(project, read(told), self.show, strict=self.strict)

        return self._told(project, "", request)

    def _stored(self, source: Source) -> dict[str, Any]:
        """Read a stored source, when nobody else reads one of the project."""
        is_waiting = False
        while not runs.claim(source):
            if not is_waiting:
                self.show("waiting: a source of this project is being read")
            is_waiting = True
            time.sleep(LOOK_SECONDS)
        return self._told(source.project, source.name, lambda: runs.run(source, self.show, strict=self.strict))

    def _all(self, project: Project) -> None:
        """Read all stored sources again, also when one of them fails."""
        sources = list(project.sources.select_related("project"))
        if not sources:
            raise CommandError(
                f"{project.domain} has no stored sources. Name a folder or an address: "
                f"manage.py ingest {project.domain} SOURCE [--name NAME]"
            )
        told, failed = [], []
        for source in sources:
            try:
                told.append(self._stored(source))
            except CommandError as wrong:
                self.stderr.write(self.style.ERROR(str(wrong)))
                told.append({"source": source.name, "error": str(wrong)})
                failed.append(source.name)
        if self.quiet:
            self.stdout.write(json.dumps(told))
        if failed:
            raise CommandError(f"{project.domain}: {len(failed)} of {len(sources)} failed: {', '.join(failed)}.")
        if not self.quiet:
            self._say_next(project)

    def _told(self, project: Project, name: str, request: Callable[[], Summary]) -> dict[str, Any]:
        """Read, and tell what became of it. Raises CommandError with a sentence."""
        began = time.monotonic()
        title = f"{project.domain}, {name}" if name else project.domain
        try:
            summary = request()
        except Refused as refused:
            self._say_skipped(refused.summary)
            raise CommandError(f"{title}: {refused}.") from None
        except Exception as wrong:
            if not runs.is_told(wrong):
                raise
            raise CommandError(f"{title}: {storable.cleaned(str(wrong)).rstrip('.')}.") from None
        self._say_skipped(summary)
        counts = runs.counts(summary)
        if not self.quiet:
            pages = ", ".join(f"{counts[kind]} {kind}" for kind in ("added", "changed", "unchanged", "removed"))
            rest = f", {len(summary.left_out)} left out" if summary.left_out else ""
            rest += f", {counts['redirects']} redirect{pluralize(counts['redirects'])}" if counts["redirects"] else ""
            self.stdout.write(
                f"{title}: {pages}, {len(summary.bad)} skipped{rest} "
                f"({summary.sections} sections written, {time.monotonic() - began:.1f} s)"
            )
        return {
            "source": name,
            **counts,
            "skipped": runs.listed(summary.bad),
            "leftOut": runs.listed(summary.left_out),
            "warnings": [warned.sentence for warned in summary.warnings],
        }

    def _say_skipped(self, summary: Summary) -> None:
        """What is wrong with single pages, and with the new index."""
        lines = [f"skipped {bad.origin}: {bad.reason}" for bad in summary.bad[:MOST_SKIPPED]]
        if (more := len(summary.bad) - MOST_SKIPPED) > 0:
            lines.append(f"and {more} more")
        for line in [*lines, *(warned.sentence for warned in summary.warnings)]:
            self.stderr.write(self.style.WARNING(f"  {line}"))

    def _say_next(self, project: Project) -> None:
        self.stdout.write(f"Try it: manage.py search {project.domain} 'your question'")
        self.stdout.write("See it: open /playground on the service")

    def show(self, line: str) -> None:
        """A line of progress, at once even where it is not a terminal that reads it."""
        if not self.quiet:
            self.stdout.write(f"  {line}")
            self.stdout.flush()


def _place(given: str) -> str:
    """A location as it is stored: an address as it is, a path from the root on."""
    if not given or given.lower().startswith(("https://", "http://")):
        return given
    place = Path(given)
    if not place.exists():
        raise CommandError(f"{given} is neither a folder nor a file, nor an address that begins with https://.")
    return str(place.resolve())


def _source(project: Project, name: str, location: str, given: dict[str, str]) -> Source:
    """The stored source of that name, made or changed as was told."""
    source = Source.objects.filter(project=project, name=name).first()
    if source is None:
        if not location:
            names = ", ".join(project.sources.values_list("name", flat=True)) or "none"
            raise CommandError(f"{project.domain} has no source {name}. There are: {names}.")
        source = Source(name=name)
    source.project = project
    told = {**given, **({"location": location} if location else {})}
    for field, value in told.items():
        setattr(source, field, value)
    try:
        source.full_clean()
    except ValidationError as wrong:
        field, sentences = next(iter(wrong.message_dict.items()))
        raise CommandError(f"{field}: {sentences[0]}") from None
    if source.pk is None:
        source.save()
    elif told:  # and nothing else, since it may be read at this moment
        source.save(update_fields=list(told))
    return source
