"""`manage.py demo`: this documentation as a running project with keys, an index and sample visitors."""

import json
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.urls import reverse

from assistant.models import AssistantSettings
from assistant.upstream import UpstreamError, errors, model_status
from docsite.core.access import origins
from docsite.core.ids import is_token
from docsite.core.tenants.management.base import ServiceCommand, port
from docsite.core.tenants.management.commands.createproject import create_project
from docsite.core.tenants.models import (
    ApiKey,
    Organization,
    Project,
    digest,
)
from docsite.extras.demo.local_models import find_models
from docsite.extras.demo.sample import life
from docsite.extras.demo.sample.views import make_sample_views
from docsite.site.navigation import CONTENT, DEFAULT_LANGUAGE
from search.indexing.ingest import ingest
from search.sources.registry import read
from search.sources.request import SourceRequest
from search.stored_sources import runs

USERNAME = "admin"
SECRETS = ("assistant_key", "admin_key", "admin_password")  # printed when they are new
MAX_TRIED = 3  # models of this machine
STARTERS = ["How do I put the widget on my site?", "Who counts as AI?"]


class Command(ServiceCommand):
    """Sets up the demo project, or finds that of an earlier run, and serves it."""

    _answers = ""  # who writes them

    help = "Set up the demo project and serve it. Further runs keep its data and keys."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the address to listen on."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=port, default=settings.ENV.port)
        parser.add_argument(
            "--model", metavar="NAME", help="a model on this machine, or none; default: the first one that chats"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Set up the project, serve it, and print its addresses and keys."""
        from docsite.server.daphne import check_address, serve

        host, port = options["host"], options["port"]
        display_host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        base_url = f"http://{f'[{display_host}]' if ':' in display_host else display_host}:{port}"
        command = "make demo PORT=" if settings.IS_CHECKOUT else "docs-service demo --port "
        check_address(host, port, f"Try: {command}{port + 1}")
        if display_host not in settings.ALLOWED_HOSTS:
            settings.ALLOWED_HOSTS.append(f"[{display_host}]" if ":" in display_host else display_host)
        self.stdout.write("Database …")
        call_command("migrate", verbosity=0)
        self.stdout.write("Demo project and keys …")
        file: Path = settings.DATA_DIR / "demo.json"
        previous = _load_facts(file)
        demo = self._prepare_project(base_url, previous)
        secrets_are_new = any(demo[name] and previous.get(name) != demo[name] for name in SECRETS)
        _save_facts(file, {"sample_of": previous.get("sample_of", ""), **demo})
        project = Project.objects.get(domain=demo["domain"])
        self.stdout.write("Documentation …")
        request = SourceRequest(str(CONTENT), base_url, language=DEFAULT_LANGUAGE)  # translations name theirs
        summary = ingest(project, read(request), lambda line: self.stdout.write(f"  {line}"))
        runs.record_command(project, request, summary, "make demo")
        self.stdout.write(f"  {project.documents.count()} pages, {summary.added + summary.changed} added or changed")
        if previous.get("sample_of") != project.project_id and not project.views.exists():
            self.stdout.write("Three months of sample readers, marked as sample …")
            views = make_sample_views(project, [document.path for document in project.documents.all()])
            sample = life.create_sample(project)
            self.stdout.write(f"  {views:,} views, {sample.searches} searches, {sample.conversations} conversations")
            self.stdout.write(f"  To remove them: {base_url}{reverse('admin:sample', args=[project.domain])}")
        _save_facts(file, {"sample_of": project.project_id, **demo})  # removed sample views do not come back
        settings.ENV.site_assistant_key = demo["assistant_key"]
        origins.allow_loopback(project.domain)
        self._answers = self._use_local_model(options["model"], port) or model_status.try_model()
        settings_page = base_url + reverse("admin:projects_project_change", args=[project.pk])
        serve(host, port, lambda: self._print_summary(demo, settings_page, None if secrets_are_new else file))
        self.stdout.write("Stopped.")

    def _use_local_model(self, name: str | None, own_port: int) -> str:
        """Let this process use a model that runs on this machine, unless the settings name a model.

        Returns what to print about it: which one writes the answers, and where it was found; empty if none is used.
        Raises CommandError if the one of that name is not found or fails, or if a setting rules it out.
        """
        env = settings.ENV
        settings_of_model = sorted(field.upper() for field in env.model_fields_set if field.startswith("openai_"))
        if name == "none" or (settings_of_model and not name):
            return ""
        if settings_of_model:
            raise CommandError(f"{settings_of_model[0]} is set, so {name} is not looked for. Leave out one of the two.")
        found = find_models(own_port)
        chosen = [model for model in found if name in (None, model.name)][:MAX_TRIED]
        if name and not chosen:
            names = ", ".join(model.name for model in found) or "none that chats"
            raise CommandError(f"No model server of this machine has {name}. Found: {names}.")
        without = "make demo MODEL=none" if settings.IS_CHECKOUT else "docs-service demo --model none"
        before = env.openai_base_url, env.openai_model
        for model in chosen:
            env.openai_base_url, env.openai_model = model.base_url, model.name
            says = f"{model_status.describe()} ({model.server}, found on this machine; to do without it: {without})"
            try:
                return f"{says}, which answered in {model_status.measure():.1f} s"
            except UpstreamError as failure:
                if failure.advice == errors.SLOW:  # it is perhaps being loaded
                    return f"{says}, which takes long for its first answer"
                reason = failure
        env.openai_base_url, env.openai_model = before
        if name:
            raise CommandError(f"The model {name} does not answer: {reason}")
        return ""

    def _prepare_project(self, base_url: str, previous: dict[str, str]) -> dict[str, str]:
        """Create or update the project, and return its facts. Valid keys and passwords of an earlier run stay."""
        domain = settings.ENV.site_domain
        project = Project.objects.filter(domain=domain).select_related("organization").first()
        assistant_key, admin_key = previous.get("assistant_key", ""), previous.get("admin_key", "")
        if project is None:
            project, assistant_key, admin_key = create_project(domain, "Demo", base_url, [], "This documentation")
            AssistantSettings.objects.create(project=project, starter_questions=STARTERS)
        if not _is_valid_key(assistant_key, project):
            _, assistant_key = ApiKey.issue(ApiKey.Kind.ASSISTANT, project.organization, project, name="Demo")
        if not _is_valid_key(admin_key, project):
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
            "admin_password": self._prepare_admin(project.organization, previous.get("admin_password")),
        }

    @staticmethod
    def _prepare_admin(organization: Organization, previous_password: str | None) -> str:
        """Create the admin user if it is missing. Returns the password; empty if the owner has changed it."""
        user, is_new = get_user_model().objects.get_or_create(
            username=USERNAME, defaults={"is_staff": True, "is_superuser": True}
        )
        organization.memberships.get_or_create(user=user)
        if not is_new and previous_password is not None:
            return previous_password if previous_password and user.check_password(previous_password) else ""
        password = secrets.token_urlsafe(9)
        user.set_password(password)
        user.save(update_fields=["password"])
        return password

    def _print_summary(self, demo: dict[str, str], settings_page: str, secrets_file: Path | None) -> None:
        """Print addresses, the keys and the password, and what to do next.

        `settings_page` has the project's allowed origins. With `secrets_file`, only the place of the secrets is
        printed. The assistant key of the tag is public, so it is always printed.
        """
        base = demo["base_url"]
        password, key = demo["admin_password"], demo["admin_key"]
        if secrets_file:
            password, key = password and f"the password is in {secrets_file}", f"in {secrets_file}"
        tag = f'<script async src="{base}/widget.js" data-domain="{demo["domain"]}" data-key="{demo["assistant_key"]}">'
        lines = [
            "",
            f"Site            {base}/",
            f"Admin           {base}/admin/  ({demo['admin_username']} / {password or 'the password you set'})",
            f"Project ID      {demo['project_id']}  (domain {demo['domain']})",
            f"Answers         {self._answers}",
            f"Assistant key   {demo['assistant_key']}",
            f"Admin key       {key}",
            "",
            f"Ready: {base}/",
            "Ctrl-C stops it.",
            "",
            f"1. Ask the assistant in the corner of {base}/",
            "2. Paste this tag into a page at http://localhost or http://127.0.0.1, on any port:",
            f"     {tag}</script>",
            "   A file that is opened from the disk shows nothing: serve its folder with python3 -m http.server 3000",
            f"   Pages at other addresses: allow them for the demo project at {settings_page}",
            f"3. Paste the address of your documentation into the field on {base}/",
            f"4. Add it for good: {base}/admin/new-project/, or the commands on {base}/quickstart",
        ]
        self.stdout.write("\n".join(lines))


def _is_valid_key(token: str, project: Project) -> bool:
    """Whether a token is a valid key of the project, without expiry."""
    key = ApiKey.objects.filter(digest=digest(token), revoked_at=None).first() if is_token(token) else None
    return (
        key is not None
        and key.expires_at is None
        and key.organization_id == project.organization_id
        and (key.project_id in (None, project.pk))
    )


def _save_facts(file: Path, facts: dict[str, str]) -> None:
    """Save the facts of the demo in a file that only this user can read."""
    draft = file.with_suffix(".draft")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(facts, indent=2) + "\n")
    draft.replace(file)


def _load_facts(file: Path) -> dict[str, str]:
    """Load the facts of an earlier run. Empty if the file is missing or unreadable."""
    try:
        facts = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}
