"""`manage.py redirects DOMAIN`: redirects from addresses without a page to the pages that took their place."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from docsite.core.tenants.management.base import ServiceCommand, find_project
from docsite.core.tenants.models import Project
from docsite.core.unicode.addresses import urlsplit
from docsite.extras.dead_ends import formats, recording, redirects, watching
from docsite.extras.dead_ends.formats import HTML, Rule
from search.models import Document

WAIT_SECONDS = 60.0  # for a process that serves and works on the same project


class Command(ServiceCommand):
    """Writes the redirects of a project."""

    help = (
        "Write redirects for the host or the server of a site: from addresses that readers and agents ask for, and "
        "from pages that have left the index, to the pages that took their place. Chains and loops are resolved."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The project, the format, and where to write."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument("--format", required=True, choices=[*formats.WRITERS, HTML])
        parser.add_argument(
            "--confidence",
            type=float,
            default=redirects.CONFIDENCE,
            help="from which on a redirect is written, 0 to 1 (default: %(default)s)",
        )
        parser.add_argument(
            "--output", type=Path, help="the file to write, standard output if none; for html the folder of the site"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Bring the table up to date, and write it."""
        project, output = find_project(options["domain"]), options["output"]
        if not 0 <= options["confidence"] <= 1:
            raise CommandError("--confidence: must be from 0 to 1.")
        recording.flush()
        _bring_up_to_date(project)
        table = redirects.build(project, options["confidence"])
        rules, left_out = list_rules(project, table)
        if options["format"] == HTML:
            if output is None:
                raise CommandError("--format html needs --output, the folder of the site.")
            said = f"{write_pages(rules, output)} pages written to {output}."
        else:
            text = formats.WRITERS[options["format"]](rules)
            if output is None:
                self.stdout.write(text, ending="")
            else:
                output.write_text(text, encoding="utf-8")
            said = f"{len(table) - left_out} addresses redirected."
        more = f" {left_out} have characters that no file of redirects should hold." if left_out else ""
        self.stderr.write(said + more)


def _bring_up_to_date(project: Project) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not watching.refresh(project):
        if time.monotonic() >= deadline:
            raise CommandError("Another process compares the pages of this project. Try again in some minutes.")
        time.sleep(0.5)


def list_rules(project: Project, table: dict[str, redirects.Target]) -> tuple[list[Rule], int]:
    """The rules for a table, and how many addresses are left out. A rule is never for the address of a page."""
    addresses = dict(Document.objects.filter(project=project).values_list("path", "address"))
    base = project.docs_url.rstrip("/")
    folder = urlsplit(base).path
    site = base.removesuffix(folder)
    places = {
        path: project.url_of(path, address=address).removeprefix(site) or "/" for path, address in addresses.items()
    }
    served = {place.rstrip("/") for place in places.values()}
    rules: dict[str, Rule] = {}
    left_out = 0
    for path, target in table.items():
        if not formats.is_safe(path):
            left_out += 1
            continue
        for rule in formats.list_rules(folder + path, places[target.path]):
            if rule.source.rstrip("/") not in served:
                rules.setdefault(rule.source, rule)
    return list(rules.values()), left_out


def write_pages(rules: Sequence[Rule], folder: Path) -> int:
    """Write a page for each rule into a folder, but over no file. Returns how many. Raises CommandError."""
    root, written = folder.resolve(), 0
    for source, target in rules:
        file = root / formats.file_of(source)
        if not file.resolve().is_relative_to(root):
            raise CommandError(f"{file}: is outside of {folder}.")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8") as stream:
                stream.write(formats.write_page(target))
        except FileExistsError:
            continue  # a page of the site, or of the same address with a slash
        except OSError as failure:
            raise CommandError(f"{file}: {failure.strerror}.") from None
        written += 1
    return written
