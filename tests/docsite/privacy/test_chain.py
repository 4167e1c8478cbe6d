"""The chain of the audit: a missing, changed or foreign row shows, and two processes at once keep it whole."""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from django.contrib.auth import get_user_model
from django.db import connection, transaction

from docsite.privacy import audit, chain
from docsite.privacy.models import AuditEntry, AuditHead
from tests import scenarios
from tests.conftest import logged_in

pytestmark = pytest.mark.slow


def result_of(tenant):
    number = tenant.project.organization_id
    return chain._check(number, AuditHead.objects.filter(chain=number).first())  # the chains of all tests take a second


def rows(tenant):
    return AuditEntry.objects.filter(organization_id=tenant.project.organization_id).order_by("position")


@pytest.fixture
def tamper():
    """Change rows as an administrator of the database could. Everything is taken back."""

    class TakeBack(Exception):
        pass

    def run(statement, values, check):
        with suppress(TakeBack), transaction.atomic():
            with connection.cursor() as cursor:
                if connection.vendor == "postgresql":
                    cursor.execute("ALTER TABLE privacy_auditentry DISABLE TRIGGER audit_append_only")
                else:
                    for event in ("update", "delete"):
                        cursor.execute(f"DROP TRIGGER audit_no_{event}")
                cursor.execute(statement, values)
            check()
            raise TakeBack

    return run


@pytest.mark.matrix
def test_the_chain_of_an_organization_is_whole(make_project):
    tenant = make_project()
    found = next(check for check in chain.check_chains() if check.chain == tenant.project.organization_id)
    assert (found.broken, found.entries) == ("", rows(tenant).count())
    assert [row.position for row in rows(tenant)] == list(range(1, found.entries + 1))
    scenarios.complete("checkaudit")


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE privacy_auditentry SET actor = 'nobody' WHERE id = %s", "Entry 2 was changed"),
        ("UPDATE privacy_auditentry SET network = '192.0.2.1' WHERE id = %s", "Entry 2 was changed"),
        ("DELETE FROM privacy_auditentry WHERE id = %s", "Entry 2 is missing"),
    ],
)
def test_a_changed_or_missing_entry_is_named(make_project, tamper, statement, sentence):
    tenant = make_project()
    second = rows(tenant)[1]

    def check():
        assert result_of(tenant).broken.startswith(sentence)

    tamper(statement, [second.pk], check)
    assert result_of(tenant).broken == ""


def test_a_missing_end_is_named(make_project, tamper):
    tenant = make_project()
    last = rows(tenant).last()

    def check():
        assert result_of(tenant).broken.startswith(f"Entry {last.position} is missing")
        AuditHead.objects.filter(chain=tenant.project.organization_id).delete()
        assert "the chain ends at 0" in result_of(tenant).broken

    tamper("DELETE FROM privacy_auditentry WHERE id = %s", [last.pk], check)


def write_entries(number):
    for i in range(40):
        audit.add_entry("tried", i, organization_id=int(number), details={"i": i})


@pytest.mark.stores
def test_two_processes_at_once_keep_the_chain_whole(make_project):
    tenant = make_project()
    number = tenant.project.organization_id
    before = rows(tenant).count()
    database = {"DATABASE_URL": os.environ["DATABASE_URL"]}
    with ThreadPoolExecutor(2) as pool:
        for writer in [pool.submit(scenarios.run, write_entries, database, number) for _ in range(2)]:
            writer.result()
    found = result_of(tenant)
    assert (found.broken, found.entries) == ("", before + 80)


@pytest.mark.matrix
def test_log_ins_and_failed_log_ins_are_recorded_with_the_network(project, client):
    name = f"reader of the audit {project.project.pk}"
    logged_in(name, project.project.organization)
    client.post("/admin/login/", {"username": name, "password": "wrong"}, REMOTE_ADDR="2001:db8::7")
    entry = rows(project).last()
    assert (entry.action, entry.object, entry.network) == ("log-in failed", name, "2001:db8::")
    secret = "my password in the wrong field"
    client.post("/admin/login/", {"username": secret, "password": "x"}, REMOTE_ADDR="192.0.2.9")
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.organization_id) == ("log-in failed", None)
    assert secret not in str(entry.__dict__)
    client.force_login(get_user_model().objects.get(username=name))
    assert rows(project).last().action == "logged in"


def test_downloads_and_commands_are_recorded(people, project):
    people.owner.get(f"/admin/project/{project.domain}/synonyms/synonyms.txt")
    entry = rows(project).last()
    assert (entry.action, entry.object) == ("downloaded", "workspace_synonyms_file")
    assert entry.actor == f"owner of {project.domain}"
    scenarios.complete("seal")
    scenarios.complete("forgetvisitors", project.domain, "--yes")
    assert rows(project).filter(action="command run", object="forgetvisitors").count() == 1


@pytest.mark.stores
def test_an_entry_has_the_values_before_and_after(project):
    membership = project.project.organization.memberships
    logged_in(f"changed {project.project.pk}", project.project.organization)
    member = membership.get(user__username=f"changed {project.project.pk}")
    member.role = "viewer"
    member.save()
    entry = rows(project).last()
    assert (entry.before, entry.details) == ({"role": "owner"}, {"role": "viewer"})
    assert audit.add_entry("x", "y", organization_id=None, details={"a": (1, 2)}).details == {"a": [1, 2]}
