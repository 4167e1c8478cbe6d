"""`manage.py demo`: this documentation as a running project with keys, an index and sample visitors."""

import json
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser

from analytics.collecting.sample import make_sample_views
from assistant.models import AssistantSettings
from docsite.core.ids import is_token
from docsite.core.tenants.management.base import ServiceCommand, port
from docsite.core.tenants.management.commands.createproject import create_project
from docsite.core.tenants.models import (
    ApiKey,
    Organization,
    Project,
    digest,
)
from docsite.site.navigation import CONTENT, DEFAULT_LANGUAGE
from search.indexing.ingest import ingest
from search.sources.registry import read
from search.sources.request import SourceRequest

USERNAME = "admin"
STARTERS = ["How do I put the widget on my site?", "Who counts as AI?"]


class Command(ServiceCommand):
    """Sets the demo up, or finds it as it was, and serves it."""

    help = "Set up the demo project and serve it. Run again, it keeps its data and keys."

    def add_arguments(self, parser: CommandParser) -> None:
        """Where to listen."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=port, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        """Set up, say what there is, serve."""
        from docsite.server.daphne import claim, serve

        host, port = options["host"], options["port"]
        shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        base_url = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}"
        try:
            claim(host, port)
        except OSError as taken:
            raise CommandError(f"{host}:{port}: {taken.strerror}. Try: make demo PORT=8001") from None
        if shown not in settings.ALLOWED_HOSTS:
            settings.ALLOWED_HOSTS.append(f"[{shown}]" if ":" in shown else shown)
        self._step("Database")
        call_command("migrate", verbosity=0)
        self._step("Demo project and keys")
        file: Path = settings.DATA_DIR / "demo.json"
        known = _read(file)
        demo = self._project(base_url, known)
        _write(file, {"sample_of": known.get("sample_of", ""), **demo})
        project = Project.objects.get(domain=demo["domain"])
        self._step("Documentation")
        pages = read(SourceRequest(str(CONTENT), base_url, language=DEFAULT_LANGUAGE))  # translations name theirs
        summary = ingest(project, pages, lambda line: self.stdout.write(f"  {line}"))
        self.stdout.write(f"  {project.documents.count()} pages, {summary.added + summary.changed} read anew")
        if known.get("sample_of") != project.project_id and not project.views.exists():
            self._step("Sample visitors, marked as sample")
            made = make_sample_views(project, [document.path for document in project.documents.all()])
            self.stdout.write(f"  {made:,} views of three months")
            self.stdout.write(f"  To take them away: manage.py removesample {project.domain}")
        _write(file, {"sample_of": project.project_id, **demo})  # once taken away, they stay away
        settings.ENV.site_assistant_key = demo["assistant_key"]
        serve(host, port, lambda: self._tell(demo))
        self.stdout.write("Stopped.")

    def _step(self, name: str) -> None:
        self.stdout.write(f"{name} …")
        self.stdout.flush()

    def _project(self, base_url: str, old: dict[str, str]) -> dict[str, str]:
        """The demo's facts; keys and password of an earlier run are kept while they still open something."""
        domain = settings.ENV.site_domain
        project = Project.objects.filter(domain=domain).select_related("organization").first()
        assistant_key, admin_key = old.get("assistant_key", ""), old.get("admin_key", "")
        if project is None:
            project, assistant_key, admin_key = create_project(domain, "Demo", base_url, [], "This documentation")
            AssistantSettings.objects.create(project=project, starter_questions=STARTERS)
        if not _opens(assistant_key, project):
            _, assistant_key = ApiKey.issue(ApiKey.Kind.ASSISTANT, project.organization, project, name="Demo")
        if not _opens(admin_key, project):
            _, admin_key = ApiKey.issue(ApiKey.Kind.ADMIN, project.organization, name="Demo")
        if project.docs_url != base_url:
            project.docs_url = base_url
            project.save(update_fields=["docs_url"])
        return {
            "base_url": base_url,
            "domain": domain,
            "project_id": project.project_id,
            "assistant_key": assistant_key,
            "admin_key": admin_key,
            "admin_username": USERNAME,
            "admin_password": self._admin(project.organization, old.get("admin_password")),
        }

    @staticmethod
    def _admin(organization: Organization, known: str | None) -> str:
        """The admin's password; empty when the owner has set one of their own since."""
        user, made = get_user_model().objects.get_or_create(
            username=USERNAME, defaults={"is_staff": True, "is_superuser": True}
        )
        organization.memberships.get_or_create(user=user)
        if not made and known is not None:
            return known if known and user.check_password(known) else ""
        password = secrets.token_urlsafe(9)
        user.set_password(password)
        user.save(update_fields=["password"])
        return password

    def _tell(self, demo: dict[str, str]) -> None:
        base, password = demo["base_url"], demo["admin_password"] or "the password you set"
        lines = [
            "",
            f"Site            {base}/",
            f"Admin           {base}/admin/  ({demo['admin_username']} / {password})",
            f"Project ID      {demo['project_id']}  (domain {demo['domain']})",
            f"Assistant key   {demo['assistant_key']}",
            f"Admin key       {demo['admin_key']}",
            "",
            "Embed tag:",
            f'  <script async src="{base}/widget.js" data-domain="{demo["domain"]}" '
            f'data-key="{demo["assistant_key"]}"></script>',
            "",
            "Ctrl-C stops it.",
            f"Ready: {base}/",
        ]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()


def _opens(token: str, project: Project) -> bool:
    """Whether a token is a live key of the project."""
    key = ApiKey.objects.filter(digest=digest(token), revoked_at=None).first() if is_token(token) else None
    return (
        key is not None
        and key.expires_at is None
        and key.organization_id == project.organization_id
        and (key.project_id in (None, project.pk))
    )


def _write(file: Path, facts: dict[str, str]) -> None:
    """Write the demo's facts down, for nobody else to read."""
    draft = file.with_suffix(".draft")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(facts, indent=2) + "\n")
    draft.replace(file)


def _read(file: Path) -> dict[str, str]:
    """What an earlier run wrote down; nothing when there is no such file, or none that can be read."""
    try:
        facts = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}
