"""Credentials change only in a session whose user has shown a few minutes ago who they are."""

import html
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.contrib.auth.models import Group, User
from django.urls import resolve
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from analytics.models import ShareLink
from assistant.models import SupportSettings
from docsite.core.delivery import webhooks
from docsite.core.delivery.models import Webhook
from docsite.core.sign_on import password, reauthentication, two_factor
from docsite.core.sign_on.models import GroupRole, Identity
from docsite.core.tenants import members
from docsite.core.tenants.models import ApiKey, Invitation, Membership, Organization, ReaderKey, Role
from docsite.privacy.models import AuditEntry
from tests.conftest import logged_in
from tests.docsite.core.sign_on.conftest import new_browser
from tests.variants import first_of

PASSWORD = "correct-horse-battery"
PROOF = "/admin/login/proof"
CREDENTIALS = (
    *(
        ApiKey,
        ReaderKey,
        Webhook,
        ShareLink,
        Invitation,
        Membership,
        GroupRole,
        Identity,
        Organization,
        SupportSettings,
    ),
    *(User, Group, TOTPDevice, StaticToken),
)


@dataclass
class Change:
    """A form that changes credentials: its address, its fields, and what makes rows that they name."""

    address: str
    form: dict[str, Any]
    prepare: Callable[[Any, User], dict[str, Any]] = field(default=lambda project, user: {})


def code_of(project: Any, user: User) -> dict[str, Any]:
    """Set up a second factor, and return its next code."""
    device = two_factor.create_secret(user)
    code = f"{totp(device.bin_key):06d}"
    two_factor.confirm(user, code)
    TOTPDevice.objects.filter(user=user).update(last_t=-1)
    return {"code": code}


def waiting_code_of(project: Any, user: User) -> dict[str, Any]:
    return {"code": f"{totp(two_factor.create_secret(user).bin_key):06d}"}


def identity_of(project: Any, user: User) -> dict[str, Any]:
    Identity.objects.create(user=user, issuer="https://id.example", subject=user.username)
    return {}


def api_key(project: Any, user: User) -> dict[str, Any]:
    return {"revoke": ApiKey.issue(ApiKey.Kind.ADMIN, project.organization)[0].pk, "word": "revoke"}


def reader_key(project: Any, user: User) -> dict[str, Any]:
    return {"revoke": ReaderKey.objects.create(project=project, algorithm="HS256").pk}


def share_link(project: Any, user: User) -> dict[str, Any]:
    return {"revoke": ShareLink.objects.create(project=project, digest=str(project.pk)).pk}


def webhook(project: Any, user: User) -> dict[str, Any]:
    return {"pk": Webhook.objects.create(project=project, url="https://a.example/", secret="x", events="gap.opened").pk}


def support_webhook(project: Any, user: User) -> dict[str, Any]:
    row, _ = webhooks.store(project, None, "https://hooks.acme.example/")
    SupportSettings.objects.create(project=project, webhook=row)
    return {}


def other_member(project: Any, user: User) -> dict[str, Any]:
    other = User.objects.create_user(f"other-{project.domain}", is_staff=True)
    row = Membership.objects.create(organization=project.organization, user=other)
    return {"member": row.pk, "user": other.pk, "username": other.username}


def leaving_member(project: Any, user: User) -> dict[str, Any]:
    return {"remove": other_member(project, user)["member"]}


def invitation(project: Any, user: User) -> dict[str, Any]:
    return {"withdraw": members.invite(project.organization, Role.OWNER, "", user)[0].pk}


def group_role(project: Any, user: User) -> dict[str, Any]:
    return {"remove": GroupRole.objects.create(organization=project.organization, group="g", role="owner").pk}


def new_user(project: Any, user: User) -> dict[str, Any]:
    return {"user": User.objects.create_user(f"new-{project.domain}").pk}


def new_organization(project: Any, user: User) -> dict[str, Any]:
    return {"organization": Organization.objects.create(name=f"New of {project.domain}").pk}


def new_group(project: Any, user: User) -> dict[str, Any]:
    return {"group": Group.objects.create(name=f"a group of {project.domain}").pk}


NEW_PASSWORD = {"usable_password": "true", "password1": "a heron eats at dawn", "password2": "a heron eats at dawn"}
MEMBERSHIPS = {
    f"memberships-{name}": value
    for name, value in {"TOTAL_FORMS": "0", "INITIAL_FORMS": "0", "MIN_NUM_FORMS": "0", "MAX_NUM_FORMS": "9"}.items()
}
KEYS, PEOPLE, READERS = "projects/project/of/{domain}", "project/{domain}/people", "project/{domain}/readers"
SHARE, OWN, HOOKS = "analytics/pageview/visitors/{domain}/share", "account/log-in", "project/{domain}/webhooks"
CHANGES = {
    "set up a second factor": Change(OWN, {"begin": "1"}),
    "confirm a second factor": Change(OWN, {"confirm": "1"}, waiting_code_of),
    "new recovery codes": Change(OWN, {"renew": "1"}, code_of),
    "remove a second factor": Change(OWN, {"remove": "1"}, code_of),
    "end single sign-on": Change(OWN, {"disconnect": "1"}, identity_of),
    "an API key": Change(KEYS, {"kind": "admin"}),
    "revoke an API key": Change(KEYS, {}, api_key),
    "a key of readers": Change(READERS, {"algorithm": "HS256"}),
    "revoke a key of readers": Change(READERS, {}, reader_key),
    "a webhook": Change(
        HOOKS, {"save": "1", "url": "https://a.example/", "format": "standard", "events": "gap.opened"}
    ),
    "a new secret of a webhook": Change(HOOKS + "/{pk}", {"rotate": "1"}, webhook),
    "a webhook of support": Change(
        "project/{domain}/support/settings",
        {"save": "1", "webhook_url": "https://a.example/", "service_url": "https://b.example"},
    ),
    "a new secret of support": Change("project/{domain}/support/settings", {"rotate": "1"}, support_webhook),
    "a share link": Change(SHARE, {"name": "board"}),
    "revoke a share link": Change(SHARE, {}, share_link),
    "an invitation": Change(PEOPLE, {"invite": "1", "role": "owner"}),
    "withdraw an invitation": Change(PEOPLE, {}, invitation),
    "a role": Change(PEOPLE, {"role": "viewer"}, other_member),
    "the end of a membership": Change(PEOPLE, {}, leaving_member),
    "how members log in": Change(PEOPLE + "/log-in", {"rules": "1", "requires_second_factor": "on"}),
    "a role of a group": Change(PEOPLE + "/log-in", {"add": "1", "group": "docs", "role": "owner"}),
    "no role of a group": Change(PEOPLE + "/log-in", {}, group_role),
    "a user": Change("auth/user/add/", {"username": "new-{domain}", **NEW_PASSWORD}),
    "rights of a user": Change(
        "auth/user/{user}/change/",
        {"is_superuser": "on", "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"},
        other_member,
    ),
    "the password of a user": Change("auth/user/{user}/password/", NEW_PASSWORD, other_member),
    "no user": Change("auth/user/{user}/delete/", {"post": "yes"}, other_member),
    "no users": Change(
        "auth/user/", {"action": "delete_selected", "_selected_action": "{user}", "post": "yes"}, other_member
    ),
    "a group": Change("auth/group/add/", {"name": "group of {domain}"}),
    "a group by another name": Change("auth/group/{group}/change/", {"name": "another of {domain}"}, new_group),
    "no group": Change("auth/group/{group}/delete/", {"post": "yes"}, new_group),
    "no groups": Change(
        "auth/group/", {"action": "delete_selected", "_selected_action": "{group}", "post": "yes"}, new_group
    ),
    "an organization": Change("projects/organization/add/", {"name": "another of {domain}", **MEMBERSHIPS}),
    "members of an organization": Change(
        "projects/organization/{organization}/change/",
        {
            "name": "renamed {domain}",
            **MEMBERSHIPS,
            "memberships-TOTAL_FORMS": "1",
            "memberships-0-user": "{user}",
            "memberships-0-role": "owner",
        },
        new_user,
    ),
    "no organization": Change("projects/organization/{organization}/delete/", {"post": "yes"}, new_organization),
    "no organizations": Change(
        "projects/organization/",
        {"action": "delete_selected", "_selected_action": "{organization}", "post": "yes"},
        new_organization,
    ),
}


@pytest.fixture
def user(project):
    """A superuser, who is a member and an owner, with a password."""
    user = User.objects.create_superuser(f"root of {project.domain}", password=PASSWORD)
    Membership.objects.create(organization=project.project.organization, user=user)
    return user


@pytest.fixture
def browser(user):
    """A session of this user that has no proof."""
    browser = logged_in(user.username)
    expire_proof(browser)
    return browser


def expire_proof(browser):
    session = browser.session
    session["proved_at"] = time.time() - reauthentication.PROOF_SECONDS
    session.save()


def snapshot():
    return {model: sorted(map(str, model._default_manager.values())) for model in CREDENTIALS}


@pytest.mark.parametrize("name", first_of(CHANGES, 3))
def test_an_open_session_alone_changes_no_credential(browser, user, project, name):
    change, site = CHANGES[name], project.project
    made = change.prepare(site, user)
    known = {"domain": project.domain, "organization": site.organization_id, **made}
    address = f"/admin/{change.address.format(**known)}"
    form = {**made, **{key: value.format(**known) for key, value in change.form.items()}}
    before = snapshot()
    refused = browser.post(address, form)
    assert (refused.status_code, refused["Location"]) == (302, reauthentication.proof_url(address))
    assert snapshot() == before
    assert refused["Location"].replace("&", "&amp;") in browser.get(address).content.decode(), (
        "said before somebody types"
    )
    assert browser.post(refused["Location"], {"password": PASSWORD})["Location"] == address
    browser.post(address, form)
    assert snapshot() != before


def test_every_guarded_address_has_a_row():
    dummies = {"domain": "acme", **dict.fromkeys(("pk", "user", "group", "organization"), 1)}
    rows = {resolve(f"/admin/{change.address.format(**dummies)}").url_name for change in CHANGES.values()}
    assert rows == set(reauthentication._guarded)


def test_a_wrong_password_proves_nothing_and_cannot_be_guessed_without_end(browser, user, monkeypatch):
    monkeypatch.setattr(password, "OWN_PASSWORD", replace(password.OWN_PASSWORD, rate="2/h"))
    for _ in range(2):
        wrong = browser.post(PROOF, {"password": "guess"})
        assert (wrong.status_code, "This is not your password" in wrong.content.decode()) == (400, True)
    assert "Too many" in browser.post(PROOF, {"password": PASSWORD}).content.decode()
    assert browser.post("/admin/account/log-in", {"begin": "1"}).status_code == 302
    entries = AuditEntry.objects.filter(object=user.username, action="log-in failed")
    assert [entry.details for entry in entries] == 2 * [{"by": "password for a change"}], "a refusal is no attempt"


def test_a_proof_counts_for_ten_minutes_and_not_for_who_has_stolen_the_session(browser):
    thief = new_browser()
    thief.cookies = browser.cookies.copy()
    browser.post(PROOF, {"password": PASSWORD})
    assert "data:image/svg+xml" in browser.post("/admin/account/log-in", {"begin": "1"}).content.decode()
    assert thief.post("/admin/account/log-in", {"begin": "1"})["Location"].startswith("/admin/login/?")
    with time_machine.travel(timezone.now() + timedelta(minutes=10, seconds=1)):
        assert browser.post("/admin/account/log-in", {"begin": "1"})["Location"].startswith(PROOF)


def test_a_log_in_is_a_proof_and_other_forms_need_none(browser, user, project):
    fresh = new_browser()
    fresh.post("/admin/login/", {"username": user.username, "password": PASSWORD})
    assert fresh.post("/admin/account/log-in", {"begin": "1"}).status_code == 200
    row = webhook(project.project, user)["pk"]
    browser.post(f"/admin/project/{project.domain}/webhooks/{row}", {"delete": "1"})
    assert not Webhook.objects.filter(pk=row).exists()
    assert new_browser().post(PROOF, {"password": PASSWORD})["Location"] == "/admin/login/"
    away = browser.post(f"{PROOF}?next=https://attacker.example/", {"password": PASSWORD})
    assert away["Location"] == "/admin/"


@pytest.mark.matrix
def test_an_account_without_a_password_proves_itself_at_the_provider(provider, project):
    subject, group = f"ada-{project.domain}", f"docs-{project.domain}"
    GroupRole.objects.create(organization=project.project.organization, group=group, role="owner")
    page = f"/admin/project/{project.domain}/people"
    now = int(time.time())
    provider.set_claims(subject, groups=[group], auth_time=now - 3600)
    browser, _ = provider.log_in(subject)
    invite = {"invite": "1", "role": "viewer"}
    detour = browser.post(page, invite)["Location"]
    assert browser.post(detour, {"password": ""}).status_code == 200, "there is no password to guess"
    start = re.search('href="(/admin/login/single-sign-on[^"]*)"', browser.get(detour).content.decode())[1]
    for at in (None, now - 3600, now):
        provider.set_claims(subject, groups=[group], auth_time=at)
        there = browser.get(html.unescape(start))["Location"]
        assert parse_qs(urlsplit(there).query)["max_age"] == ["60"]
        assert browser.get(provider.authorize(there, subject))["Location"] == page
        assert browser.post(page, invite).status_code == (200 if at == now else 302)
    assert provider.log_in(subject)[0].post(page, invite).status_code == 200, "the provider has just asked"
