"""The people of an organization: invitations, roles, leaving, and what others see of them."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.core import mail
from django.test import Client
from django.utils import timezone

from docsite.core.delivery import components as delivery_components
from docsite.core.delivery import mail as delivery_mail
from docsite.core.tenants import members
from docsite.core.tenants.models import Invitation, Membership, Project
from docsite.privacy.models import AuditEntry
from tests.conftest import logged_in
from tests.receivers import serve_mail
from tests.variants import first_of

PASSWORD = "a heron eats at dawn"


@pytest.fixture
def page(project):
    return f"/admin/project/{project.domain}/people"


def invite(browser, page, role="writer", email=""):
    html = browser.post(page, {"invite": "1", "role": role, "email": email}).content.decode()
    return re.search(r"http://testserver(/invitations/[\w-]+)", html)[1]


def member_of(project, name):
    return Membership.objects.get(organization=project.project.organization, user__username=name)


@pytest.mark.slow
def test_a_new_person_joins_by_a_link_once(people, page, project):
    link = invite(people.owner, page)
    assert link.rpartition("/")[2] not in people.owner.get(page).content.decode()
    newcomer, name = Client(), f"newcomer {project.project.pk}".replace(" ", "-")
    assert "as writer" in newcomer.get(link).content.decode()
    values = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
    assert newcomer.post(link, {**values, "password2": "another"}).status_code == 400
    assert newcomer.post(link, values)["Location"] == "/admin/"
    assert member_of(project, name).role == "writer"
    assert newcomer.get(f"/admin/project/{project.domain}/gaps").status_code == 200
    assert newcomer.get(f"/admin/projects/project/of/{project.domain}").status_code == 403
    assert Client().get(link).status_code == 404
    assert Client().post(link, {**values, "username": "again"}).status_code == 404
    trail = AuditEntry.objects.filter(organization_id=project.project.organization_id)
    assert {"invitation created", "membership created", "invitation deleted"} <= {row.action for row in trail}
    assert link.rpartition("/")[2] not in str(list(trail.values()))
    assert trail.get(action="membership created", object__startswith=name).actor == name


def test_without_a_mail_server_the_link_is_sent_by_the_owner(people, page, settings):
    settings.ENV = settings.ENV.model_copy(update={"email_url": ""})
    html = people.owner.post(page, {"invite": "1", "role": "viewer", "email": "ada@example.org"}).content.decode()
    assert "Send it yourself: no mail server is set." in html


def test_an_existing_account_joins_and_keeps_the_higher_role(people, page, project):
    link = invite(people.owner, page, "viewer")
    assert "Join as" in people.stranger.get(link).content.decode()
    people.stranger.post(link)
    assert member_of(project, f"stranger of {project.domain}").role == "viewer"
    people.teammate.post(invite(people.owner, page, "viewer"))
    assert member_of(project, f"teammate of {project.domain}").role == "owner"


def test_an_invitation_expires_and_can_be_withdrawn(people, page, project):
    link = invite(people.owner, page)
    Invitation.objects.filter(organization=project.project.organization).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )
    assert Client().get(link).status_code == 404
    assert "expired" in people.owner.get(page).content.decode()
    link = invite(people.owner, page)
    newest = Invitation.objects.filter(organization=project.project.organization).first()
    people.stranger.post(page, {"withdraw": str(newest.pk)})
    other = Project.objects.get(organization__memberships__user__username=f"stranger of {project.domain}")
    people.stranger.post(f"/admin/project/{other.domain}/people", {"withdraw": str(newest.pk)})
    assert Client().get(link).status_code == 200
    people.owner.post(page, {"withdraw": str(newest.pk)})
    assert Client().get(link).status_code == 404


def test_the_last_owner_stays(people, page, project):
    owner, teammate = (member_of(project, f"{name} of {project.domain}") for name in ("owner", "teammate"))
    people.owner.post(page, {"member": str(teammate.pk), "role": "viewer"})
    teammate.refresh_from_db()
    assert teammate.role == "viewer"
    for values in ({"member": str(owner.pk), "role": "writer"}, {"remove": str(owner.pk)}):
        assert "needs an owner" in people.owner.post(page, values, follow=True).content.decode()
    assert "needs an owner" in people.owner.post(f"{page}/leave", follow=True).content.decode()
    owner.refresh_from_db()
    assert owner.role == "owner"
    assert people.teammate.post(page, {"remove": str(owner.pk)}).status_code == 403
    people.teammate.post(f"{page}/leave")
    assert people.teammate.get(page).status_code == 404


def test_people_of_another_organization_are_neither_shown_nor_changed(people, page, project):
    theirs = Membership.objects.get(user__username=f"stranger of {project.domain}")
    assert f"stranger of {project.domain}" not in people.owner.get(page).content.decode()
    people.owner.post(page, {"remove": str(theirs.pk)})
    people.owner.post(page, {"member": str(theirs.pk), "role": "viewer"})
    theirs.refresh_from_db()
    assert theirs.role == "owner"
    assert people.stranger.get(page).status_code == 404


def test_the_link_is_sent_where_a_mail_server_is_configured(people, page, monkeypatch):
    invite(people.owner, page, email="ada@example.org")
    assert not mail.outbox
    assert "ada@example.org" not in str(list(AuditEntry.objects.filter(object__startswith="number").values()))
    monkeypatch.setattr(delivery_mail, "is_configured", lambda: True)
    link = invite(people.owner, page, email="ada@example.org")
    assert mail.outbox[-1].to == ["ada@example.org"]
    assert f"http://testserver{link}" in mail.outbox[-1].body


@pytest.mark.parametrize(
    ("answers", "expected", "finding"),
    first_of(
        [
            ([], "It was sent by e-mail.", "takes the login"),
            (["550 5.7.1 Relaying denied"], "It was not sent by e-mail.</strong> The mail server answered 550:", "550"),
            (["451 4.7.1 Try again later"], "It was not sent by e-mail.</strong> The mail server answered 451:", "451"),
        ],
        1,
    ),
)
def test_an_invitation_that_the_mail_server_refuses_is_told(people, page, settings, answers, expected, finding):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with serve_mail() as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", int(server.url.rpartition(":")[2])
        settings.ENV = settings.ENV.model_copy(update={"email_url": server.url})
        server.refusals["ada@example.org"] = list(answers)
        values = {"invite": "1", "role": "viewer", "email": "ada@example.org"}
        html = people.owner.post(page, values).content.decode()
        assert expected in html
        assert "/invitations/" in html, "the link is shown, so that the owner can send it"
        assert ("Not sent by e-mail." in people.owner.get(page).content.decode()) == bool(answers)
        found = delivery_components.check_mail()
        assert finding in found.fact
        assert bool(found.advice) == bool(answers)
        Invitation.objects.filter(email="ada@example.org").update(expires_at=timezone.now())
        assert "takes the login" in delivery_components.check_mail().fact, "nobody can mend one that has expired"
        Invitation.objects.filter(email="ada@example.org").delete()


def test_one_link_makes_one_member(project):
    users = [get_user_model().objects.create_user(f"{name}-{project.project.pk}") for name in ("first", "second")]
    logged_in(f"inviter-{project.project.pk}", project.project.organization)
    _, token = members.invite(project.project.organization, "viewer", "", users[0])
    members.accept(token, users[0])
    with pytest.raises(members.MembershipError, match="used it"):
        members.accept(token, users[1])
