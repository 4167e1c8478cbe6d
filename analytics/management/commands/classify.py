"""`manage.py classify UA`: print the class of a user agent, and why."""

import json
from typing import Any

from django.core.management.base import CommandParser

from analytics import agents
from docsite.core.tenants.management.base import ServiceCommand

_CLASSES = {
    "human": "a person",
    "ai_user": "an AI assistant that fetches a page for a person",
    "ai_agent": "an AI agent",
    "ai_search": "a crawler for AI search",
    "ai_training": "a crawler for AI training",
    "search_crawler": "a search engine's crawler",
    "other_bot": "another bot",
    "http_client": "an HTTP library, or an unknown client that is not a browser",
}
_SURFACES = {"html": "the page", "md": "the page as Markdown", "llms": "a list of pages for machines"}


class Command(ServiceCommand):
    """Prints how a view of a client would be classified and counted. Needs no database."""

    help = (
        "Print the class of a user agent, the rule that decided, and what its views count as. "
        "The requested format matters, too: give the path and the Accept header of a request."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """The client, and its request."""
        parser.add_argument("user_agent", metavar="UA", help='the User-Agent header; "" for none')
        parser.add_argument("--path", default="/", metavar="TEXT", help="path of the request; default: /")
        parser.add_argument("--accept", default="", metavar="TEXT", help="Accept header of the request")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Classify, and explain."""
        verdict = agents.classify(options["user_agent"])
        surface = agents.requested_format(options["path"], options["accept"])
        counted, because = _counted(verdict.client_class, surface)
        if options["json"]:
            facts = {
                "class": verdict.client_class,
                "agent": verdict.agent,
                "operator": verdict.operator,
                "rule": verdict.rule,
                "rules": agents.VERSION,
                "surface": surface,
                "counts_as": counted,
            }
            self.stdout.write(json.dumps(facts, ensure_ascii=False))
            return
        for label, text in (
            ("class", f"{verdict.client_class}: {_CLASSES[verdict.client_class]}"),
            ("agent", verdict.agent or "-"),
            ("operator", verdict.operator or "-"),
            ("rule", f"{verdict.rule} (rules {agents.VERSION})"),
            ("surface", f"{surface}: {_SURFACES[surface]}"),
            ("counts as", because),
        ):
            self.stdout.write(f"{label:<10} {text}")


def _counted(client_class: str, surface: str) -> tuple[str, str]:
    """Which count a view is in, for scripts and in words."""
    if client_class in ("ai_search", "ai_training"):
        return "ai", "AI; in no count if the project counts only clients that read for a person"
    if client_class in agents.AI_CLASSES:
        return "ai", "AI"
    if agents.is_markdown_fetch(client_class, surface):
        return "ai", "AI: a Markdown fetch by a client that is not a known crawler"
    if client_class == "human":
        return "human", "human"
    return "", "in no count; the report lists it among the clients"
