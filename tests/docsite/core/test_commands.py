"""The command line: help, JSON, errors in a sentence."""

import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from docsite.core.db import list_missing_migrations
from docsite.core.tenants.models import (
    ApiKey,
    Organization,
    Project,
    digest,
)
from docsite.extras.demo.management.commands.demo import Command as Demo
from tests import scenarios
from tests.variants import first_of


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_createproject_creates_a_project_and_two_keys(make_project):
    domain, organization = f"{make_project().domain}-x", "A new one"
    arguments = ["createproject", domain, "--organization", organization, "--docs-url", "https://docs.example.com"]
    more = ["--origin", "https://App.example.com/x", "--time-zone", "Europe/Berlin", "--json"]
    created = json.loads(run(*arguments, *more))
    project = Project.objects.get(domain=domain)
    assert str(project.zone) == "Europe/Berlin"
    assert created["project_id"] == project.project_id
    assert project.origins == {"https://docs.example.com", "https://app.example.com"}
    assert ApiKey.objects.get(digest=digest(created["assistant_key"])).project == project
    assert ApiKey.objects.get(digest=digest(created["admin_key"])).organization == project.organization
    assert created["assistant_key"].startswith("svc_dsc_")


@pytest.mark.parametrize(
    ("hosts", "https_only", "address"),
    [
        (("127.0.0.1", "localhost", "[::1]"), True, "http://127.0.0.1:9000"),
        (("localhost", ".example.com", "*", "docs.example.com/service"), True, "https://docs.example.com/service"),
        (("docs.internal",), False, "http://docs.internal"),
    ],
)
def test_createproject_prints_the_tag(make_project, settings, hosts, https_only, address):
    changes = {"allowed_hosts": hosts, "https_only": https_only, "port": 9000}
    settings.ENV = settings.ENV.model_copy(update=changes)
    domain = f"{make_project().domain}-x"
    arguments = ["createproject", domain, "--organization", "A new one", "--docs-url", "https://docs.example.com"]
    out = run(*arguments, "--origin", "http://localhost:3000")
    assert "Pages of https://docs.example.com, http://localhost:3000 may use the widget." in out
    key = Project.objects.get(domain=domain).keys.get().public_token
    tag = f'<script async src="{address}/widget.js" data-domain="{domain}" data-key="{key}"></script>'
    assert tag in out


def test_an_existing_organization_is_used_again(make_project):
    first = make_project().project
    name = first.organization.name
    run("createproject", f"{first.domain}-2", "--organization", name, "--docs-url", "https://x.example")
    assert Organization.objects.get(name=name).projects.count() == 2


@pytest.mark.parametrize(
    ("domain", "url", "origin", "says"),
    first_of(
        [
            ("Bad_Domain", "https://x.example", "https://x.example", "domain: "),
            ("good\n", "https://x.example", "https://x.example", "domain: "),
            ("good", "ftp:/x", "https://x.example", "docs_url: "),
            ("good", "ftp://x.example", "https://x.example", "docs_url: "),
            ("good", "https://x.example:99999", "https://x.example", "docs_url: "),
            ("good", "https://me:secret@x.example", "https://x.example", "docs_url: "),
            ("good", "https://x.example/?a=1", "https://x.example", "docs_url: "),
            ("good", "https://x.example", "x.example", "--origin: "),
        ],
        2,
    ),
)
def test_createproject_explains_each_mistake(domain, url, origin, says):
    before = Organization.objects.count()
    with pytest.raises(CommandError, match=says):
        run("createproject", domain, "--organization", "Nobody", "--docs-url", url, "--origin", origin)
    assert Organization.objects.count() == before


def test_createproject_takes_no_time_zone_that_does_not_exist():
    with pytest.raises(CommandError, match=r"time_zone: .*Berlin"):
        run("createproject", "x", "--organization", "X", "--docs-url", "https://x.example", "--time-zone", "Berlin")


def test_two_projects_cannot_have_one_domain(project):
    with pytest.raises(CommandError, match=r"domain: .*already exists"):
        run("createproject", project.domain, "--organization", "Other", "--docs-url", "https://x.example")


def test_createkey_and_revokekey(project):
    created = json.loads(run("createkey", project.domain, "--kind", "admin", "--expires-days", "7", "--json"))
    key = ApiKey.objects.get(pk=created["id"])
    assert key.digest == digest(created["key"])
    assert (key.expires_at - key.created_at).days in (6, 7)
    assert "revoked" in run("revokekey", str(key.pk))
    key.refresh_from_db()
    assert key.revoked_at


def test_createkey_sets_scopes_networks_and_a_last_day(project):
    day = timezone.now().date() + timedelta(days=30)
    limits = ["--scope", "read", "--network", "203.0.113.0/24", "--network", "2001:db8::/32", "--expires", str(day)]
    key = ApiKey.objects.get(
        pk=json.loads(run("createkey", project.domain, "--kind", "admin", *limits, "--json"))["id"]
    )
    assert (key.scopes, key.networks) == (["read"], ["203.0.113.0/24", "2001:db8::/32"])
    assert key.expires_at == datetime(day.year, day.month, day.day, tzinfo=UTC)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--kind", "assistant", "--scope", "read"], "only admin keys"),
        (["--kind", "admin", "--network", "x"], "--network: x: not a CIDR range"),
        (["--kind", "admin", "--network", "0.0.0.0/0"], "allow every address"),
        (["--kind", "admin", "--expires", "2020-01-01"], "--expires: must be within"),
        (["--kind", "admin", "--expires", "2999-01-01"], "--expires: must be within"),
        (["--kind", "admin", "--expires", "soon"], "write a date such as"),
    ],
)
def test_createkey_explains_each_mistake(project, arguments, says):
    before = ApiKey.objects.count()
    with pytest.raises(CommandError, match=says):
        run("createkey", project.domain, *arguments)
    assert ApiKey.objects.count() == before


def test_listkeys_shows_the_keys_of_a_project_and_its_organization(project, make_project):
    other = make_project()
    limits = ["--scope", "read", "--network", "203.0.113.0/24", "--expires-days", "7"]
    created = json.loads(run("createkey", project.domain, "--kind", "admin", *limits, "--name", "Ex\nport", "--json"))
    run("revokekey", str(created["id"]))
    rows = [json.loads(line) for line in run("listkeys", project.domain, "--json").splitlines()]
    assert len(rows) == 3
    assert rows[0]["id"] == created["id"]
    assert (rows[0]["state"], rows[0]["name"], rows[0]["lastUsedAt"]) == ("revoked", "Ex\nport", None)
    assert (rows[0]["scopes"], rows[0]["networks"]) == (["read"], ["203.0.113.0/24"])
    assert {row["domain"] for row in rows} == {project.domain, None}
    assert [row["state"] for row in rows[1:]] == ["active", "active"]
    assert created["key"].startswith(rows[0]["hint"][:8])
    text = run("listkeys")
    assert "(read, 203.0.113.0/24): Ex port" in text
    assert other.domain in text
    assert not any(token in text for token in (created["key"], project.admin_key, project.assistant_key))


@pytest.mark.parametrize("days", ["0", "366"])
def test_createkey_limits_the_expiry(project, days):
    with pytest.raises(CommandError, match="1 to 365"):
        run("createkey", project.domain, "--kind", "assistant", "--expires-days", days)


def test_missing_migrations_are_listed_and_a_service_refuses_to_start(db):
    assert list_missing_migrations() == []
    MigrationRecorder(connection).record_unapplied("search", "0001_tables")
    MigrationRecorder(connection).record_unapplied("auth", "0002_alter_permission_name_max_length")
    missing = [("auth", "0002_alter_permission_name_max_length"), ("search", "0001_tables")]
    assert list_missing_migrations() == missing
    with pytest.raises(CommandError, match="behind the code"):
        run("serve", "--port", "1")


@pytest.mark.matrix
def test_a_database_without_tables_is_reported_in_a_sentence(tmp_path):
    for arguments in (["ingest", "x", "."], ["createkey", "x", "--kind", "admin"], ["serve"]):
        run = scenarios.complete(*arguments, DATA_DIR=str(tmp_path), DATABASE_URL="")
        assert run.returncode == 1
        assert "Run first: python manage.py migrate" in run.stderr
        assert "Traceback" not in run.stderr


@pytest.mark.parametrize("arguments", [("createkey", "nobody", "--kind", "admin"), ("revokekey", "99999999")])
def test_an_unknown_project_or_key_is_reported_in_a_sentence(arguments):
    with pytest.raises(CommandError, match="There is no"):
        run(*arguments)


@pytest.mark.matrix
def test_the_demo_keeps_a_password_that_its_owner_set(project):
    organization = project.project.organization
    created = Demo._prepare_admin(organization, None)
    user = get_user_model().objects.get(username="admin")
    assert user.check_password(created)
    assert Demo._prepare_admin(organization, created) == created
    user.set_password("my own")
    user.save()
    second = Demo._prepare_admin(organization, created)
    assert Demo._prepare_admin(organization, second) == second == ""
    user.refresh_from_db()
    assert user.check_password("my own")


def test_a_command_says_what_to_do_next(project):
    domain = project.domain
    created = run("createkey", domain, "--kind", "assistant")
    assert f"/admin/projects/project/of/{domain}" in created
    number = created.split()[1]
    assert f"manage.py createkey {domain} --kind assistant" in run("revokekey", number)
    assert "Authorization: Bearer" in run("createkey", domain, "--kind", "admin")
    made = run("createproject", f"{domain}-n", "--organization", "N", "--docs-url", "https://n.example/docs")
    assert f"manage.py ingest {domain}-n FOLDER_OR_ADDRESS\n" in made
    assert "https://n.example may use the widget" in made
    assert f"manage.py search {domain}" in run("reindex", domain)
    assert "/admin/privacy/auditentry/" in run("erase", domain, "--fp", "nobody", "--yes")
    assert f"manage.py erase {domain}" in run("forgetvisitors", domain, "--yes")
    run("golden", domain, "--add", "How do I install acme?", "/install")
    assert f"manage.py golden {domain} --list" in run("golden", domain, "--remove", "How do I install acme?")
