"""Two-factor log-in: setting it up, codes and recovery codes at the log-in, and its removal."""

import re
from base64 import b32decode
from datetime import timedelta

import pytest
import time_machine
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from docsite.core.http.errors import TooMany
from docsite.core.sign_on import two_factor
from docsite.privacy.models import AuditEntry
from tests.docsite.core.sign_on.conftest import new_browser

LOGIN, CODE, ACCOUNT = "/admin/login/", "/admin/login/code", "/admin/account/log-in"
PASSWORD = "correct-horse-battery"


@pytest.fixture
def user(project):
    """A member of staff who has only a password."""
    user = User.objects.create_user(f"staff-{project.domain}", password=PASSWORD, is_staff=True)
    project.project.organization.memberships.create(user=user)
    return user


@pytest.fixture
def codes(user):
    """The recovery codes of this user, who has set up two-factor log-in."""
    device = two_factor.create_secret(user)
    return two_factor.confirm(user, next_code(user, device))


def next_code(user, device=None):
    """A code that the app shows. The device takes each only once, so forget which it took last."""
    device = device or TOTPDevice.objects.get(user=user)
    TOTPDevice.objects.filter(pk=device.pk).update(last_t=-1, throttling_failure_count=0)
    return f"{totp(device.bin_key):06d}"


def send_password(user, after=""):
    browser = new_browser()
    return browser, browser.post(LOGIN, {"username": user.username, "password": PASSWORD, "next": after})


def actions(user):
    return [entry.action for entry in AuditEntry.objects.filter(object=user.username).order_by("pk")]


def test_setting_it_up_shows_a_secret_and_then_recovery_codes(user):
    browser, response = send_password(user)
    assert response["Location"] == "/admin/"
    page = browser.post(ACCOUNT, {"begin": "1"}).content.decode()
    assert "data:image/svg+xml" in page
    secret = re.search(r'aria-label="Secret"><code>([A-Z2-7 ]+)<', page)[1].replace(" ", "")
    assert browser.post(ACCOUNT, {"confirm": "1", "code": "000000"}).status_code == 400
    TOTPDevice.objects.filter(user=user).update(throttling_failure_count=0)
    session, other = browser.session.session_key, send_password(user)[0]
    page = browser.post(ACCOUNT, {"confirm": "1", "code": f"{totp(b32decode(secret)):06d}"}).content.decode()
    codes = re.findall(r"[a-z2-7]{8}-[a-z2-7]{8}", page)
    assert len(set(codes)) == 10
    assert not re.findall(r"[a-z2-7]{8}-[a-z2-7]{8}", browser.get(ACCOUNT).content.decode()), "shown once"
    assert secret not in browser.get(ACCOUNT).content.decode()
    assert browser.session["log_in_method"] == "password and code"
    assert browser.session.session_key != session
    assert other.get("/admin/").status_code == 302, "other sessions have ended"
    assert not {code.replace("-", "")[:16] for code in codes} & set(StaticToken.objects.values_list("token", flat=True))
    assert "two-factor log-in set up" in actions(user)


def test_the_password_alone_opens_nothing(user, codes, project):
    browser, response = send_password(user, f"/admin/project/{project.domain}/people")
    assert response["Location"] == CODE
    assert "_auth_user_id" not in browser.session
    assert browser.get("/admin/").status_code == 302
    response = browser.post(CODE, {"code": next_code(user)})
    assert response["Location"] == f"/admin/project/{project.domain}/people"
    assert "docs_device" in response.cookies
    assert browser.get(response["Location"]).status_code == 200
    assert AuditEntry.objects.filter(object=user.username).first().details == {"by": "password and code"}


def test_a_wrong_password_leads_to_no_code(user, codes):
    browser = new_browser()
    assert browser.post(LOGIN, {"username": user.username, "password": "guess"}).status_code == 200
    assert browser.get(CODE)["Location"] == LOGIN
    assert browser.post(CODE, {"code": next_code(user)})["Location"] == LOGIN


def test_a_code_counts_once(user, codes):
    code = next_code(user)
    first, second = send_password(user)[0], send_password(user)[0]
    assert first.post(CODE, {"code": f"{code[:3]} {code[3:]}"}).status_code == 302
    response = second.post(CODE, {"code": code})
    assert "was used before" in response.content.decode()
    assert "_auth_user_id" not in second.session


def test_wrong_codes_block_further_ones_and_are_in_the_audit(user, codes):
    browser, _ = send_password(user)
    assert browser.post(CODE, {"code": "000000"}).status_code == 200
    assert AuditEntry.objects.filter(object=user.username).first().details == {"by": "code"}
    number = AuditEntry.objects.count()
    device = TOTPDevice.objects.get(user=user)
    refused = browser.post(CODE, {"code": f"{totp(device.bin_key):06d}"})
    assert (refused.status_code, int(refused["Retry-After"]) >= 1) == (429, True)
    assert AuditEntry.objects.count() == number, "refused attempts would fill the audit"


def test_a_recovery_code_counts_once(user, codes):
    browser, _ = send_password(user)
    assert browser.post(CODE, {"code": codes[0].upper()}).status_code == 302
    assert "recovery code used" in actions(user)
    assert two_factor.count_recovery_codes(user) == 9
    browser, _ = send_password(user)
    assert browser.post(CODE, {"code": codes[0]}).status_code == 200
    assert "_auth_user_id" not in browser.session


def test_the_code_comes_within_five_minutes_of_the_password_and_before_it_changes(user, codes):
    browser, _ = send_password(user)
    session = browser.session
    session["waits_for_code"] = {**session["waits_for_code"], "at": 0}
    session.save()
    assert browser.post(CODE, {"code": next_code(user)})["Location"] == LOGIN
    browser, _ = send_password(user)
    user.set_password("another-horse-battery")
    user.save()
    assert browser.post(CODE, {"code": next_code(user)})["Location"] == LOGIN


def test_wrong_codes_keep_nobody_out_for_long(user, codes):
    """A person who knows the password and guesses codes for a day does not keep the owner of the account out."""
    for wrong, device in (("000000", TOTPDevice), ("wrong-recovery-code", StaticDevice)):
        device.objects.filter(user=user).update(
            throttling_failure_count=40, throttling_failure_timestamp=timezone.now()
        )
        with pytest.raises(TooMany) as refused:
            two_factor.verify(user, wrong)
        assert 500 < int(refused.value.headers["Retry-After"]) <= 513
        with time_machine.travel(timezone.now() + timedelta(seconds=520)):
            assert not two_factor.verify(user, wrong)
            with pytest.raises(TooMany):
                two_factor.verify(user, wrong)


@pytest.mark.slow
def test_it_is_switched_off_and_codes_are_renewed_only_with_a_code(user, codes):
    browser, _ = send_password(user)
    browser.post(CODE, {"code": next_code(user)})
    for action in ("renew", "remove"):
        assert browser.post(ACCOUNT, {action: "1", "code": "000000"}).status_code == 400
        TOTPDevice.objects.filter(user=user).update(throttling_failure_count=0)
    assert browser.post(ACCOUNT, {"begin": "1"}).status_code == 400
    assert TOTPDevice.objects.filter(user=user).count() == 1, "a second secret would take the place of the first"
    other, stranger = send_password(user)[0], new_browser()
    other.post(CODE, {"code": next_code(user)})
    stranger.force_login(User.objects.create_user(f"stranger-{user.username}", is_staff=True))
    page = browser.post(ACCOUNT, {"renew": "1", "code": next_code(user)}).content.decode()
    assert codes[0] not in page
    assert two_factor.count_recovery_codes(user) == 10
    browser.post(ACCOUNT, {"remove": "1", "code": next_code(user)})
    assert not two_factor.is_set_up(user)
    assert browser.session["log_in_method"] == "password"
    assert [each.get("/admin/").status_code for each in (browser, other, stranger)] == [200, 302, 200]
    assert actions(user)[-2:] == ["recovery codes created", "two-factor log-in removed"]


def test_a_member_sets_it_up_to_see_an_organization_that_requires_it(user, project):
    project.project.organization.requires_second_factor = True
    project.project.organization.save()
    browser, _ = send_password(user)
    page = f"/admin/project/{project.domain}/people"
    assert browser.get(page).status_code == 404
    assert "a log-in with a code" in browser.get("/admin/").content.decode()
    browser.post(ACCOUNT, {"begin": "1"})
    browser.post(ACCOUNT, {"confirm": "1", "code": next_code(user)})
    assert browser.get(page).status_code == 200


def test_a_command_removes_it_for_who_has_lost_everything(user, codes, capsys):
    browser, _ = send_password(user)
    browser.post(CODE, {"code": next_code(user)})
    call_command("removesecondfactor", user.username)
    assert browser.get("/admin/").status_code == 302
    assert "logs in without a code now" in capsys.readouterr().out
    assert send_password(user)[1]["Location"] == "/admin/"
    with pytest.raises(CommandError, match="no user"):
        call_command("removesecondfactor", user.username)


def test_the_admin_shows_no_secrets_of_others():
    assert not [model for model in admin.site._registry if model._meta.app_label.startswith("otp_")]
