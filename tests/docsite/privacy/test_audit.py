"""The audit of keys, settings and roles: complete, without secrets, and append-only."""

import getpass

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import DatabaseError, connection, transaction

from docsite.core.tenants.models import ApiKey
from docsite.privacy.models import AuditEntry
from tests import scenarios
from tests.conftest import logged_in, set_analytics


def entries(tenant) -> list[tuple[str, str]]:
    rows = AuditEntry.objects.filter(organization_id=tenant.project.organization_id).order_by("pk")
    return [(row.action, row.actor) for row in rows]


@pytest.fixture
def owner(project):
    return logged_in(f"owner-{project.project.pk}", project.project.organization)


def test_keys_of_the_admin_are_recorded_with_the_user(project, owner):
    name = f"owner-{project.project.pk}"
    page = f"/admin/projects/project/of/{project.domain}"
    key = owner.post(page, {"kind": "assistant", "name": "New"}).context["created"]
    owner.post(page, {"revoke": str(key.pk), "word": "revoke"})
    assert entries(project)[-2:] == [("api key created", name), ("api key revoked", name)]
    last = AuditEntry.objects.latest("pk")
    assert (last.object, last.project) == (str(key), project.domain)
    assert set(last.details) == {"revoked_at"}


@pytest.mark.matrix
def test_changes_by_commands_are_recorded_with_the_command(project):
    scenarios.complete("createkey", project.domain, "--kind", "admin")
    scenarios.complete("forgetvisitors", project.domain, "--yes")
    who = getpass.getuser()
    assert ("api key created", f"command createkey ({who})") in entries(project)
    assert entries(project)[-1] == ("analytics settings changed", f"command forgetvisitors ({who})")


@pytest.mark.slow
def test_settings_are_recorded_without_their_texts(project, owner):
    set_analytics(project.project, ai_scope="all")
    page = f"/admin/projects/project/{project.project.pk}/change/"
    form = owner.get(page).context["adminform"].form
    values = {name: value for name, value in form.initial.items() if value is not None and name in form.fields}
    owner.post(page, {**values, "allowed_origins": "", "name": "A secret name", "ai_scope": "readers"})
    rows = AuditEntry.objects.filter(organization_id=project.project.organization_id).order_by("-pk")[:2]
    details = {row.action: row.details for row in rows}
    assert details == {"analytics settings changed": {"ai_scope": "readers"}, "project changed": {"name": "set"}}


def test_roles_and_passwords_are_recorded(project, owner):
    user = get_user_model().objects.get(username=f"owner-{project.project.pk}")
    user.is_superuser = True
    user.set_password("correct horse")
    user.save()
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.object) == ("user changed", user.username)
    assert entry.details == {"password": "set", "is_superuser": True}
    user.memberships.all().delete()  # a query of many rows sends the signal, too
    assert entries(project)[-1][0] == "membership deleted"
    user.last_login = user.date_joined
    user.save(update_fields=["last_login"])
    assert AuditEntry.objects.latest("pk").action == "membership deleted"


def test_entries_outlive_their_project(make_project):
    tenant = make_project()
    tenant.project.delete()
    assert entries(tenant)[-1][0] == "project deleted"
    assert AuditEntry.objects.filter(project=tenant.domain).count() >= 3


def test_no_entry_holds_a_key(make_project):
    tenant = make_project()
    text = str(list(AuditEntry.objects.filter(organization_id=tenant.project.organization_id).values()))
    assert text.count("api key created") == 2
    digests = ApiKey.objects.filter(organization=tenant.project.organization).values_list("digest", flat=True)
    assert not [secret for secret in (tenant.assistant_key, tenant.admin_key, *digests) if secret in text]


def test_nobody_changes_or_deletes_an_entry(make_project):
    make_project()
    entry = AuditEntry.objects.latest("pk")
    for attempt in (entry.save, entry.delete, AuditEntry.objects.all().delete, AuditEntry.objects.update):
        with pytest.raises(TypeError, match="append-only"):
            attempt()
    table, statements = AuditEntry._meta.db_table, ["UPDATE {} SET actor = 'x'", "DELETE FROM {}"]
    if connection.vendor == "postgresql":
        statements.append("TRUNCATE {}")
    else:
        statements.append("INSERT OR REPLACE INTO {0} SELECT * FROM {0}")
        statements.append("REPLACE INTO {0} SELECT * FROM {0}")
    for statement in statements:
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement.format(table))
    assert AuditEntry.objects.latest("pk").actor == entry.actor


def test_staff_read_the_entries_of_their_organizations_only(project, owner, make_project):
    stranger = logged_in(f"stranger-{project.project.pk}", make_project().project.organization)
    entry = AuditEntry.objects.filter(project=project.domain).first()
    url = "/admin/privacy/auditentry/"
    assert project.domain in owner.get(url).content.decode()
    assert project.domain not in stranger.get(url).content.decode()
    assert owner.get(f"{url}{entry.pk}/change/").status_code == 200
    assert stranger.get(f"{url}{entry.pk}/change/").status_code in (302, 404)
    for page in ("add/", f"{entry.pk}/delete/"):
        assert owner.get(url + page).status_code == 403
    posted = owner.post(f"{url}{entry.pk}/change/", {"actor": "nobody"})
    assert posted.status_code == 403


def test_every_table_of_settings_of_a_project_is_audited():
    audited = {app.get_model(name) for app in apps.get_app_configs() for name in getattr(app, "audited", ())}
    settings = {model for model in apps.get_models() if model.__name__.endswith("Settings")}
    assert len(settings) >= 6
    assert settings <= audited
