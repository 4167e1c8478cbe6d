"""`manage.py listkeys [DOMAIN]`: list API keys with what they may do and when they were last used."""

import json
from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Q
from django.utils import timezone

from docsite.core.paths import CONTROL_CHARACTERS
from docsite.core.tenants.management.base import ServiceCommand, find_project
from docsite.core.tenants.models import ApiKey


class Command(ServiceCommand):
    """Lists keys. Their secrets are not stored, so it shows their first characters."""

    help = "List the API keys of a project and its organization, or all keys."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the project and the form."""
        parser.add_argument("domain", nargs="?", help="domain of a project; default: all projects")
        parser.add_argument("--json", action="store_true", help="print one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a line for each key, the newest first."""
        keys = ApiKey.objects.select_related("organization", "project").order_by("-pk")
        if options["domain"]:
            project = find_project(options["domain"])
            keys = keys.filter(Q(project=project) | Q(project=None, organization=project.organization))
        now = timezone.now()
        for key in keys:
            row = _describe(key, now)
            if options["json"]:
                self.stdout.write(json.dumps(row))
                continue
            limits = [*key.scopes, *key.networks]
            self.stdout.write(
                f"{key.pk:<6}{row['hint']:16}{key.kind:11}{row['state']:9}"
                f"used {row['lastUsedAt'] or 'never':22}expires {row['expiresAt'] or 'never':22}"
                f"{row['domain'] or row['organization']}"
                + (f" ({', '.join(limits)})" if limits else "")
                + (f": {CONTROL_CHARACTERS.sub(' ', key.name)}" if key.name else "")
            )


def _describe(key: ApiKey, now: datetime) -> dict[str, Any]:
    return {
        "id": key.pk,
        "hint": str(key),
        "kind": key.kind,
        "name": key.name,
        "organization": key.organization.name,
        "domain": key.project.domain if key.project else None,
        "scopes": key.scopes,
        "networks": key.networks,
        "createdAt": _format(key.created_at),
        "lastUsedAt": _format(key.last_used_at),
        "expiresAt": _format(key.expires_at),
        "state": "revoked" if key.revoked_at else "active" if key.is_live(now) else "expired",
    }


def _format(moment: datetime | None) -> str | None:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment else None
