"""`manage.py erase DOMAIN`: erase the data of a reader, a conversation, an e-mail address, a visitor or all readers."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.urls import reverse

from docsite.core.components.erasure import CONVERSATION, EVERYTHING, READER, VISITOR, WRITER, NotErasable
from docsite.core.tenants.management.base import ServiceCommand, find_project
from docsite.privacy import erasure


class Command(ServiceCommand):
    """Erases data and prints a receipt, which the audit stores, too."""

    help = "Erase the data of a reader, a conversation, an e-mail address, a visitor or all readers. Prints a receipt."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the project, whose data to erase, and a confirmation."""
        parser.add_argument("domain", help="domain of the project")
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument("--fp", metavar="TEXT", help="all conversations of the reader with this fp")
        whose.add_argument("--thread", metavar="ID", help="the conversation with this id")
        whose.add_argument("--reader-of", metavar="ID", help="all conversations of the reader of this one")
        whose.add_argument("--email", metavar="ADDRESS", help="all support requests from this e-mail address")
        whose.add_argument("--visitor", metavar="ADDRESS", help="page views and searches from this network address")
        whose.add_argument("--everything", action="store_true", help="what all readers left, and all counts")
        parser.add_argument("--user-agent", default="", metavar="TEXT", help="of the browser of the visitor")
        parser.add_argument("--reader-id", default="", metavar="TEXT", help="first-party id of the visitor, if any")
        parser.add_argument("--yes", action="store_true", help="confirm: it cannot be undone")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Erase."""
        project = find_project(options["domain"])
        if not options["yes"]:
            raise CommandError("This cannot be undone. To do it, add --yes.")
        names = {
            READER: options["reader_of"] if options["fp"] is None else options["fp"],
            CONVERSATION: options["thread"],
            WRITER: options["email"],
            VISITOR: options["visitor"],
            EVERYTHING: "" if options["everything"] else None,
        }
        whose, identifier = next((whose, name) for whose, name in names.items() if name is not None)
        try:
            receipt = erasure.erase(project, whose, identifier, options["user_agent"], options["reader_id"])
        except NotErasable as refusal:
            raise CommandError(str(refusal)) from None
        if options["json"]:
            self.stdout.write(json.dumps(asdict(receipt), default=str))
            return
        self.stdout.write("\n".join(receipt.lines()))
        self.stdout.write(f"The audit lists it: {reverse('admin:privacy_auditentry_changelist')}")
