"""A database from before each app kept its settings of a project in a row of its own."""

from typing import Any

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

BEFORE = [
    ("projects", "0003_support_links"),
    ("search", "0005_sources"),
    ("assistant", "0006_widget_settings_and_files"),
    ("analytics", "0006_feedback_client_id"),
]
INDEXED = "2026-11-20T10:11:12.123456+00:00"
FULL = {
    "support_url": "help@acme.example",
    "ai_scope": "readers",
    "secret_rotation": "90d",
    "first_party_ids": True,
    "visitor_secret": "ab" * 32,
    "index_generation": 7,
    "indexed_at": INDEXED,
}
EMPTY = {
    "support_url": "",
    "ai_scope": "all",
    "secret_rotation": "never",
    "first_party_ids": False,
    "visitor_secret": "cd" * 32,
    "index_generation": 0,
    "indexed_at": None,
}
PROJECTS = {
    "full": FULL,
    "empty": EMPTY,
    "told": {**FULL, "support_url": "https://acme.example/help", "visitor_secret": "ef" * 32},
}


def add_projects(apps: Any) -> int:
    """Add projects, each with its settings in its own row, as models of that time have them.

    Returns the number of their organization.
    """
    projects = apps.get_model("projects", "Project").objects
    organization = apps.get_model("projects", "Organization").objects.create(name="Acme")
    for domain, values in PROJECTS.items():
        projects.create(
            organization=organization, domain=domain, name=domain, docs_url="https://docs.acme.example", **values
        )
    apps.get_model("assistant", "AssistantSettings").objects.create(
        project_id=projects.get(domain="told").pk, instructions="Be brief."
    )
    return organization.pk


def check_rows_of_the_apps() -> None:
    """Every value of the added projects is in the rows of the apps now."""
    from analytics.models import AnalyticsSettings
    from assistant.models import AssistantSettings
    from docsite.core.tenants.models import Project
    from search.models import Generation

    for domain, values in PROJECTS.items():
        project = Project.objects.get(domain=domain)
        settings = AnalyticsSettings.objects.get(project=project)
        for name in ("ai_scope", "secret_rotation", "first_party_ids", "visitor_secret"):
            assert getattr(settings, name) == values[name], (domain, name)
        assert AssistantSettings.for_project(project).support_url == values["support_url"]
        generation = Generation.objects.filter(project=project).first()
        assert (generation.number if generation else 0) == values["index_generation"]
        assert (generation and generation.indexed_at.isoformat()) == values["indexed_at"]
    assert AssistantSettings.objects.get(project__domain="told").instructions == "Be brief."
    assert not AssistantSettings.objects.filter(project__domain="empty").exists()


def a_database_of_the_state_before() -> None:
    """Every value moves into the app's row, back again, and stays the same; for SQLite and PostgreSQL."""
    from analytics.models import AnalyticsSettings
    from docsite.core.tenants.models import Project

    def back():
        executor = MigrationExecutor(connection)
        executor.migrate(BEFORE)
        return MigrationExecutor(connection).loader.project_state(BEFORE).apps

    def columns(apps):
        rows = apps.get_model("projects", "Project").objects.values("domain", *FULL)
        return {
            row.pop("domain"): row | {"indexed_at": row["indexed_at"] and row["indexed_at"].isoformat()} for row in rows
        }

    organization_id = add_projects(back())
    call_command("migrate", verbosity=0)
    check_rows_of_the_apps()
    bare = Project.objects.create(
        organization_id=organization_id, domain="bare", name="bare", docs_url="https://docs.acme.example"
    )
    found = columns(back())
    secret = found.pop("bare")["visitor_secret"]
    assert found == PROJECTS
    assert len(bytes.fromhex(secret)) == 32
    assert secret not in [values["visitor_secret"] for values in PROJECTS.values()]
    call_command("migrate", verbosity=0)
    assert AnalyticsSettings.objects.get(project=bare).visitor_secret == secret
    assert {row.project.domain: row.visitor_secret for row in AnalyticsSettings.objects.exclude(project=bare)} == {
        domain: values["visitor_secret"] for domain, values in PROJECTS.items()
    }
