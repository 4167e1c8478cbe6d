"""`manage.py ingest DOMAIN [SOURCE]`: read documentation into a project's index."""

import json
import shlex
import time
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.template.defaultfilters import pluralize

from docsite.core.tenants.management.base import ServiceCommand, find_project
from docsite.core.tenants.models import Project
from search.indexing import report, storable
from search.indexing.ingest import ingest
from search.indexing.outcome import IngestRefused, Summary
from search.models import Source, validate_groups
from search.sources import generators
from search.sources.registry import read
from search.stored_sources import queue, runs
from search.vectors import embedding, registry

OPTIONS = (*runs.OPTIONS, "groups")
MAX_SKIPPED = 20  # that are listed; --json has them all
POLL_SECONDS = 1.0


class Command(ServiceCommand):
    """Reads pages, skips what has not changed, and swaps the index in one step."""

    help = (
        "Read documentation into a project's index: a folder, an archive, an OpenAPI document, an llms.txt, or an "
        "https:// address of one of these or of a site. Unchanged pages are skipped, and removed pages leave the "
        "index. With --name the source is stored. Without SOURCE all stored sources are read again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The project, the source, and what its pages do not say themselves."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument("source", nargs="?", default="", help="folder, archive, file, or https:// address")
        parser.add_argument(
            "--name",
            default="",
            help="store the source under this name; without SOURCE, read the stored source of this name",
        )
        parser.add_argument("--manifest", type=Path, help="JSON-lines file that names the pages of a folder")
        parser.add_argument("--generator", choices=("", *generators.NAMES), help="what renders the site")
        parser.add_argument("--under", help="path below which its pages are, such as /api")
        parser.add_argument("--version", help="for pages that name none")
        parser.add_argument("--language", help="for pages that name none")
        parser.add_argument(
            "--groups", help="readers who may see pages that name no groups, with commas; public: everybody"
        )
        parser.add_argument(
            "--strict",
            action="store_true",
            help="keep the old index when a golden question fails that did not before, or the number of pages, "
            "sections or code blocks falls by more than a tenth",
        )
        parser.add_argument(
            "--fail-on",
            metavar="KINDS",
            type=_parse_kinds,
            default=(),
            help=f"like --strict, and also when the report has such a loss, with commas: {', '.join(report.KINDS)}",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object, or a list of them")

    def handle(self, *args: Any, **options: Any) -> None:
        """Ingest, and print what was done."""
        self.quiet: bool = options["json"]
        self.checks = {"strict": options["strict"], "fail_on": options["fail_on"]}
        project = find_project(options["domain"])
        settings = {name: options[name] for name in OPTIONS if options[name] is not None}
        location = _normalize_location(options["source"])
        if (manifest := options["manifest"]) and (options["name"] or not Path(location).is_dir()):
            raise CommandError("--manifest needs a folder as SOURCE, and no --name.")
        if manifest and not manifest.is_file():
            raise CommandError(f"{manifest} is not a file.")
        if options["name"]:
            outcome = self._read_stored(_store_source(project, options["name"], location, settings))
        elif location:
            outcome = self._read_unnamed(project, location, manifest, settings)
        elif settings:
            raise CommandError(f"--{next(iter(settings))} needs a SOURCE or a --name.")
        else:
            self._read_all(project)
            return
        if self.quiet:
            self.stdout.write(json.dumps(outcome))
        else:
            self._print_next_steps(project)

    def _read_unnamed(
        self, project: Project, location: str, manifest: Path | None, settings: dict[str, Any]
    ) -> dict[str, Any]:
        """Read a source that is not stored; its pages replace those of the last such source."""

        groups = settings.get("groups")
        options = {name: value for name, value in settings.items() if name != "groups"}
        try:
            validate_groups(groups or "")
        except ValidationError as wrong:
            raise CommandError(f"groups: {wrong.messages[0]}") from None

        def read_pages() -> Summary:
            request = runs.build_request(project, None, location, manifest=manifest, progress=self.show, **options)
            summary = ingest(project, read(request), self.show, **self.checks, groups=groups)
            named = {"manifest": str(manifest.resolve()) if manifest else "", **settings}
            words = [word for name, value in named.items() if value for word in (f"--{name}", value)]
            command = shlex.join(["manage.py", "ingest", project.domain, location, *words])
            runs.record_command(project, request, summary, command, groups)
            return summary

        return self._run(project, "", read_pages)

    def _read_stored(self, source: Source) -> dict[str, Any]:
        """Read a stored source, when no other process reads one of the project."""
        is_waiting = False
        while not queue.claim(source):
            if not is_waiting:
                self.show("waiting: a source of this project is being read")
            is_waiting = True
            time.sleep(POLL_SECONDS)
        return self._run(source.project, source.name, lambda: runs.run(source, self.show, **self.checks))

    def _read_all(self, project: Project) -> None:
        """Read all stored sources again, even if one of them fails."""
        sources = list(project.sources.filter(by_command=False, is_pushed=False).select_related("project"))
        if not sources:
            raise CommandError(
                f"{project.domain} has no stored sources. Name a folder or an address: "
                f"manage.py ingest {project.domain} SOURCE [--name NAME]"
            )
        outcomes, failed = [], []
        for source in sources:
            try:
                outcomes.append(self._read_stored(source))
            except CommandError as wrong:
                self.stderr.write(self.style.ERROR(str(wrong)))
                outcomes.append({"source": source.name, "error": str(wrong)})
                failed.append(source.name)
        if self.quiet:
            self.stdout.write(json.dumps(outcomes))
        if failed:
            raise CommandError(f"{project.domain}: {len(failed)} of {len(sources)} failed: {', '.join(failed)}.")
        if not self.quiet:
            self._print_next_steps(project)

    def _run(self, project: Project, name: str, read_pages: Callable[[], Summary]) -> dict[str, Any]:
        """Read pages and print the outcome, which is returned for --json. Raises CommandError with a sentence."""
        began = time.monotonic()
        title = f"{project.domain}, {name}" if name else project.domain
        try:
            summary = read_pages()
        except IngestRefused as refused:
            self._print_problems(refused.summary)
            self._print_report(refused.summary)
            raise CommandError(f"{title}: {refused}.") from None
        except Exception as error:
            if not runs.is_user_error(error):
                raise
            raise CommandError(f"{title}: {storable.clean_text(str(error)).rstrip('.')}.") from None
        self._print_problems(summary)
        counts = runs.counts(summary)
        if not self.quiet:
            pages = ", ".join(f"{counts[kind]} {kind}" for kind in ("added", "changed", "unchanged", "removed"))
            rest = f", {len(summary.left_out)} left out" if summary.left_out else ""
            rest += f", {counts['redirects']} redirect{pluralize(counts['redirects'])}" if counts["redirects"] else ""
            self.stdout.write(
                f"{title}: {pages}, {len(summary.skipped)} skipped{rest} "
                f"({summary.sections} section{pluralize(summary.sections)} written, {time.monotonic() - began:.1f} s)"
            )
            self._print_report(summary)
        return {"source": name, **counts, **runs.list_losses(summary)}

    def _print_problems(self, summary: Summary) -> None:
        """Print skipped pages with their reasons, and warnings about the new index."""
        lines = [f"skipped {bad.origin}: {bad.reason}" for bad in summary.skipped[:MAX_SKIPPED]]
        lines += [f"front matter of {origin}: {wrong}" for origin, wrong in summary.wrong_lines[:MAX_SKIPPED]]
        if (more := sum(max(len(some) - MAX_SKIPPED, 0) for some in (summary.skipped, summary.wrong_lines))) > 0:
            lines.append(f"and {more} more")
        for line in [*lines, *(warning.sentence for warning in summary.warnings)]:
            self.stderr.write(self.style.WARNING(f"  {line}"))

    def _print_report(self, summary: Summary) -> None:
        """Print what was read and lost, and some addresses to compare with those of the site."""
        for line in report.describe(summary.report):
            self.stdout.write(line)

    def _print_next_steps(self, project: Project) -> None:
        embedder = registry.get_embedder()
        if embedder is None:
            self.stdout.write("Search uses words only, since EMBEDDINGS chooses no model")
        elif not embedding.is_complete(project, embedder):
            self.stdout.write(
                f"Vectors follow in the background while the service runs; at once: manage.py embed {project.domain}"
            )
        self.stdout.write(f"Try it: manage.py search {project.domain} 'your question'")
        self.stdout.write(f"See it: open /playground#domain={project.domain} on the service")

    def show(self, line: str) -> None:
        """Print a line of progress."""
        if not self.quiet:
            self.stdout.write(f"  {line}")


def _parse_kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(text.split(","))
    if unknown := set(kinds) - report.KINDS.keys():
        raise ArgumentTypeError(f"{', '.join(sorted(unknown))} is none of {', '.join(report.KINDS)}")
    return kinds


def _normalize_location(location: str) -> str:
    """A location as it is stored: an address unchanged, a path made absolute."""
    if not location or location.lower().startswith(("https://", "http://")):
        return location
    place = Path(location)
    if not place.exists():
        raise CommandError(f"{location} is neither a folder nor a file, nor an address that begins with https://.")
    return str(place.resolve())


def _store_source(project: Project, name: str, location: str, settings: dict[str, str]) -> Source:
    """The stored source of that name, created or changed by the options."""
    source = Source.objects.filter(project=project, name=name).first()
    if source is None:
        if not location:
            readable = project.sources.filter(by_command=False, is_pushed=False)
            names = ", ".join(readable.values_list("name", flat=True)) or "none"
            raise CommandError(f"{project.domain} has no source {name}. There are: {names}.")
        source = Source(name=name)
    if source.is_pushed:
        raise CommandError(f"{name} is a pushed source: only a push changes it. Choose another name.")
    source.project = project
    changes = {**settings, **({"location": location} if location else {})}
    for field, value in changes.items():
        setattr(source, field, value)
    try:
        source.full_clean()
    except ValidationError as wrong:
        field, sentences = next(iter(wrong.message_dict.items()))
        raise CommandError(f"{field}: {sentences[0]}") from None
    if source.pk is None:
        source.save()
    elif changes:  # only these fields, since a run may store its progress at this moment
        source.save(update_fields=list(changes))
    return source
