"""Organizations that want single sign-on or a code: who sees them, and that nobody locks himself out."""

from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import Client

from docsite.core.sign_on.models import GroupRole
from docsite.core.tenants.log_in_rules import Method, set_method
from docsite.core.tenants.models import Membership, Organization
from docsite.privacy.models import AuditEntry
from tests.conftest import logged_in
from tests.variants import first_of

pytestmark = pytest.mark.slow


@pytest.fixture
def page(project):
    return f"/admin/project/{project.domain}/people/log-in"


def enter_by(browser: Client, method: Method) -> None:
    """Let the session of this browser be one that was opened this way."""
    session = browser.session
    set_method(SimpleNamespace(session=session), method)
    session.save()


def rules(project):
    organization = Organization.objects.get(pk=project.project.organization_id)
    return organization.requires_single_sign_on, organization.requires_second_factor


@pytest.mark.parametrize(
    ("single_sign_on", "second_factor", "opens"),
    first_of(
        [
            (False, False, {Method.PASSWORD, Method.SECOND_FACTOR, Method.SINGLE_SIGN_ON}),
            (False, True, {Method.SECOND_FACTOR, Method.SINGLE_SIGN_ON}),
            (True, False, {Method.SINGLE_SIGN_ON}),
            (True, True, {Method.SINGLE_SIGN_ON}),
        ],
        1,
    ),
)
def test_an_organization_opens_only_after_the_log_in_that_it_requires(
    project, make_project, single_sign_on, second_factor, opens
):
    organization, other = project.project.organization, make_project()
    browser = logged_in(f"member {project.project.pk}", organization, other.project.organization)
    organization.requires_single_sign_on, organization.requires_second_factor = single_sign_on, second_factor
    organization.save()
    for method in Method:
        enter_by(browser, method)
        is_open = method in opens
        assert browser.get(f"/admin/project/{project.domain}/people").status_code == (200 if is_open else 404)
        assert browser.get(f"/admin/project/{other.domain}/people").status_code == 200, "another organization"
        start = browser.get("/admin/").content.decode()
        assert (f">{project.project.name}<" in start) == is_open
        assert (f"{organization} opens only after" in start) is not is_open
        listed = browser.get("/admin/projects/project/").content.decode()
        assert (project.domain in listed) == is_open


def test_an_owner_imposes_only_what_the_own_session_fulfils(provider, people, page, project):
    refused = people.owner.post(page, {"rules": "1", "requires_single_sign_on": "on"})
    assert refused.status_code == 400
    assert "Log in by single sign-on yourself first" in refused.content.decode()
    refused = people.owner.post(page, {"rules": "1", "requires_second_factor": "on"})
    assert "Set up two-factor log-in for yourself first" in refused.content.decode()
    assert rules(project) == (False, False)
    enter_by(people.owner, Method.SECOND_FACTOR)
    assert people.owner.post(page, {"rules": "1", "requires_second_factor": "on"}).status_code == 302
    enter_by(people.owner, Method.SINGLE_SIGN_ON)
    both = {"rules": "1", "requires_single_sign_on": "on", "requires_second_factor": "on"}
    assert people.owner.post(page, both).status_code == 302
    assert rules(project) == (True, True)
    entry = AuditEntry.objects.filter(organization_id=project.project.organization_id).first()
    assert (entry.action, entry.details) == ("organization changed", {"requires_single_sign_on": True})
    assert people.owner.post(page, {"rules": "1"}).status_code == 302
    assert rules(project) == (False, False)


def test_without_a_provider_nobody_switches_passwords_off(people, page, project):
    enter_by(people.owner, Method.SINGLE_SIGN_ON)
    refused = people.owner.post(page, {"rules": "1", "requires_single_sign_on": "on"})
    assert "This service has no provider" in refused.content.decode()
    assert rules(project) == (False, False)


def test_a_superuser_and_a_command_open_it_to_passwords_again(people, page, project, capsys):
    organization = project.project.organization
    Organization.objects.filter(pk=organization.pk).update(requires_single_sign_on=True)
    assert people.owner.get(page).status_code == 404
    boss = logged_in(f"boss of {project.domain}", is_superuser=True)
    assert boss.post(page, {"rules": "1"}).status_code == 302
    assert rules(project) == (False, False)
    Organization.objects.filter(pk=organization.pk).update(requires_single_sign_on=True)
    call_command("allowpasswords", organization.name)
    assert people.owner.get(page).status_code == 200
    assert f"Members of {organization} may log in by password." in capsys.readouterr().out
    assert AuditEntry.objects.filter(organization_id=organization.pk).first().actor.startswith("command allowpasswords")
    with pytest.raises(CommandError, match="no organization nowhere"):
        call_command("allowpasswords", "nowhere")


@pytest.mark.matrix
def test_groups_get_and_lose_roles(provider, people, page, project):
    organization = project.project.organization
    boss = logged_in(f"boss of the groups of {project.domain}", is_superuser=True)
    form = {"add": "1", "group": "docs team", "role": "writer"}
    refused = people.owner.post(page, form)
    assert (refused.status_code, GroupRole.objects.filter(organization=organization).exists()) == (400, False)
    assert "its operator (a superuser) gives groups their roles" in refused.content.decode()
    assert "docs team is writer" in boss.post(page, form, follow=True).content.decode()
    twice = boss.post(page, {"add": "1", "group": "docs team", "role": "owner"})
    assert "has a role already" in twice.content.decode()
    row = GroupRole.objects.get(organization=organization)
    assert (row.group, row.role) == ("docs team", "writer")
    people.stranger.post(page, {"remove": str(row.pk)})
    elsewhere = people.stranger.get("/admin/").content.decode().partition("/admin/project/")[2].partition("/")[0]
    people.stranger.post(f"/admin/project/{elsewhere}/people/log-in", {"remove": str(row.pk)})
    assert GroupRole.objects.filter(pk=row.pk).exists()
    people.owner.post(page, {"remove": str(row.pk)})
    assert not GroupRole.objects.filter(pk=row.pk).exists()
    trail = [entry.action for entry in AuditEntry.objects.filter(organization_id=organization.pk)[:2]]
    assert trail == ["role of a group deleted", "role of a group created"]


def test_an_invitation_makes_no_password_where_passwords_are_off(people, project):
    page = f"/admin/project/{project.domain}/people"
    html = people.owner.post(page, {"invite": "1", "role": "viewer"}).content.decode()
    link = "/invitations/" + html.partition("/invitations/")[2].partition("<")[0]
    Organization.objects.filter(pk=project.project.organization_id).update(requires_single_sign_on=True)
    name = f"late-{project.domain}"
    response = Client().post(link, {"username": name, "password1": "a heron eats", "password2": "a heron eats"})
    assert isinstance(response, HttpResponse)
    assert "password1" not in response.content.decode()
    assert not Client().login(username=name, password="a heron eats")


def test_a_role_by_group_does_not_count_after_a_password(people, project):
    page = f"/admin/project/{project.domain}/people"
    assert people.teammate.get(page).status_code == 200
    memberships = Membership.objects.filter(organization=project.project.organization)
    memberships.filter(user__username=f"teammate of {project.domain}").update(is_from_groups=True)
    assert people.teammate.get(page).status_code == 404
    assert f"/admin/project/{project.domain}" not in people.teammate.get("/admin/").content.decode()
    assert people.owner.get(page).status_code == 200
