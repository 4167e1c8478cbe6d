"""`manage.py search DOMAIN QUERY`: print what a reader would find, and why."""

import json
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.template.defaultfilters import pluralize

from docsite.core.access.readers import read_as
from docsite.core.paths import normalize
from docsite.core.tenants.management.base import ServiceCommand, find_project
from search.hits import Filters
from search.retrieval.explanation import explain

MAX_LIMIT = 50


class Command(ServiceCommand):
    """Prints the hits of a query with their scores; with --explain also the parts of each score."""

    help = "Search a project's documentation from the command line."

    def add_arguments(self, parser: CommandParser) -> None:
        """The project, the query, and what narrows it."""
        parser.add_argument("domain", help="domain of the project")
        parser.add_argument(
            "query", help="what a reader would type; a space at its end means that the last word is complete"
        )
        parser.add_argument("--limit", type=int, default=10, help=f"how many pages, 1 to {MAX_LIMIT}")
        parser.add_argument("--version", help="only this version, or latest")
        parser.add_argument("--language", help="only this language")
        parser.add_argument("--tag", help="only pages with this tag")
        parser.add_argument("--page", default="", help="the page that the reader is on: a path or an address")
        parser.add_argument(
            "--explain", action="store_true", help="show how the query was parsed, and the parts of each score"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object, with the explanation")

    def handle(self, *args: Any, **options: Any) -> None:
        """Search."""
        project = find_project(options["domain"])
        if not 1 <= options["limit"] <= MAX_LIMIT:
            raise CommandError(f"--limit must be 1 to {MAX_LIMIT}.")
        with read_as(None):
            explanation = explain(
                project,
                options["query"],
                filters=Filters(options["version"], options["language"], options["tag"]),
                limit=options["limit"],
                current_path=normalize(options["page"]) if options["page"] else "",
            )
        if options["json"]:
            self.stdout.write(json.dumps(explanation, ensure_ascii=False))
            return
        if options["explain"]:
            self.stdout.write("\n".join(_format_query(explanation)))
        for number, hit in enumerate(explanation["hits"], 1):
            self.stdout.write(
                f"{number:2}. {hit['score']:.3f}  {' > '.join(hit['breadcrumb'])}\n           {hit['url']}"
            )
            if options["explain"]:
                self.stdout.write("\n".join(_format_score(hit)))
        if not explanation["hits"]:
            self.stdout.write(f"Nothing found. {explanation['advice']}")
        elif not options["explain"]:
            self.stdout.write("To see the parts of the scores: --explain")


def _format_query(explanation: dict[str, Any]) -> Iterator[str]:
    """Lines that show how the query was parsed."""
    for term in explanation["terms"]:
        spellings = ", ".join(
            f"{one['term']}{'' if one['sure'] == 1 else ' ' + format(one['sure'], 'g')} ({one['sections']})"
            for one in term["spellings"]
        )
        counts = "" if term["weight"] == 1 else f", counts {term['weight']:g}"
        yield f"{term['word']:<16} {term['how']}{counts}, rarity {term['rarity']:.2f}: {spellings}"
    if explanation["ignored"]:
        yield f"left out, because they are stop words: {' '.join(explanation['ignored'])}"
    if explanation["common"]:
        yield f"not searched for, because nearly every section has them: {' '.join(explanation['common'])}"
    if explanation["filter"]:
        yield "only " + ", ".join(f"{kind} {value}" for kind, value in explanation["filter"].items())
    if preferred := [f"{kind} {value}" for kind, value in explanation["preferred"].items() if value]:
        yield f"preferred: {', '.join(preferred)}"
    compared, pages = explanation["candidates"], explanation["pages"]
    what = f"{compared} section{pluralize(compared)} of {pages} page{pluralize(pages)}"
    yield f"{what} {pluralize(compared, 'was,were')} compared"
    yield ""


def _format_score(hit: dict[str, Any]) -> Iterator[str]:
    """Lines with the parts of a score, the largest first, without those that add nothing."""
    yield f"{'':11}{'':18}{'value':>8}{'weight':>8}{'adds':>9}"
    for one in sorted(hit["features"], key=lambda one: -abs(one["contribution"])):
        if one["contribution"]:
            yield f"{'':11}{one['name']:18}{one['value']:8.3f}{one['weight']:8.3f}{one['contribution']:+9.3f}"
    yield f"{'':11}{'intercept':34}{hit['intercept']:+9.3f}"
    if hit["boost"]:
        yield f"{'':11}{'boost':34}{hit['boost']:+9.3f}"
    yield f"{'':11}{'log-odds':34}{hit['log_odds']:+9.3f}  a score of {hit['score']:.4f}"
    if hit["later"]:
        yield f"{'':11}It was added in a later round, so it comes after the first candidates."
    yield ""
