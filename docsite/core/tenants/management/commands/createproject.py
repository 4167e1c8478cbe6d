"""`manage.py createproject DOMAIN`: create a project and its first two keys."""

import json
from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from docsite.core.tenants.management.base import ServiceCommand
from docsite.core.tenants.models import ApiKey, Organization, Project
from docsite.core.tenants.validators import origin_of

_next_steps: list[Callable[[Project, str], list[str]]] = []


def create_project(
    domain: str, organization: str, docs_url: str, origins: list[str], name: str = "", time_zone: str = "UTC"
) -> tuple[Project, str, str]:
    """Create a project; return it, the token of its assistant key, and that of an admin key.

    The organization of that name is created if it is missing. Raises ValidationError.
    """
    with transaction.atomic():
        owner = Organization.objects.filter(name=organization).first() or Organization(name=organization)
        owner.full_clean()
        owner.save()
        project = Project(organization=owner, domain=domain, name=name or domain, docs_url=docs_url)
        project.allowed_origins, project.time_zone = origins, time_zone
        project.full_clean()
        project.save()
        _, assistant_key = ApiKey.issue(ApiKey.Kind.ASSISTANT, owner, project, name="First assistant key")
        _, admin_key = ApiKey.issue(ApiKey.Kind.ADMIN, owner, name=f"First admin key of {domain}")
    return project, assistant_key, admin_key


def add_next_step(describe: Callable[[Project, str], list[str]]) -> None:
    """Let the command print further lines in the end: those for the project and its assistant key. For apps."""
    _next_steps.append(describe)


class Command(ServiceCommand):
    """Creates a project and prints its id and keys."""

    help = "Create a documentation project with an assistant key and an admin key. The keys are shown once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the domain, the organization, and the addresses."""
        parser.add_argument(
            "domain", help="name in API paths: lower-case letters, digits, hyphens and dots between them"
        )
        parser.add_argument(
            "--organization", required=True, metavar="NAME", help="name of the organization; created if it is missing"
        )
        parser.add_argument("--docs-url", required=True, metavar="URL", help="where the documentation is published")
        parser.add_argument("--origin", action="append", default=[], metavar="URL", help="another allowed origin")
        parser.add_argument(
            "--time-zone", default="UTC", metavar="NAME", help="zone of its days, such as Europe/Berlin; default: UTC"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the project; print its id and keys, and the next step."""
        try:
            origins = [origin_of(origin) for origin in options["origin"]]
        except ValueError as wrong:
            raise CommandError(f"--origin: {wrong}.") from None
        try:
            project, assistant_key, admin_key = create_project(
                options["domain"], options["organization"], options["docs_url"], origins, time_zone=options["time_zone"]
            )
        except ValidationError as wrong:
            sentences = (f"{name}: {' '.join(lines)}" for name, lines in wrong.message_dict.items())
            raise CommandError(" ".join(sentences)) from None
        result = {
            "project_id": project.project_id,
            "domain": project.domain,
            "assistant_key": assistant_key,
            "admin_key": admin_key,
        }
        if options["json"]:
            self.stdout.write(json.dumps(result))
            return
        for label, value in result.items():
            self.stdout.write(f"{label:14} {value}")
        allowed = ", ".join(dict.fromkeys([origin_of(project.docs_url), *origins]))
        self.stdout.write(f"Pages of {allowed} may use the widget. The admin key is not shown again.")
        self.stdout.write(f"Next, read your pages: manage.py ingest {project.domain} FOLDER_OR_ADDRESS")
        for describe in _next_steps:
            self.stdout.write("\n".join(describe(project, assistant_key)))
