"""The log-in of the admin, and its limits against password guessing."""

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from docsite.core.http.errors import TooMany
from docsite.core.sign_on import password

LOGIN = "/admin/login/"
PASSWORD = "correct-horse-battery"


@pytest.fixture
def user(project: Any) -> User:
    """A member of staff."""
    return User.objects.create_user(f"staff-{project.domain}", password=PASSWORD, is_staff=True)


@pytest.fixture
def attempt(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Try a password from an address; two attempts are allowed for each address, and three for each name."""
    settings.ENV = settings.ENV.model_copy(update={"limit_login_ip": "2/d"})
    for name in ("LOGIN_ACCOUNT", "OWN_PASSWORD"):
        monkeypatch.setattr(password, name, replace(getattr(password, name), rate="3/d"))

    def post(name: str, password: str, address: str) -> Any:
        return Client(REMOTE_ADDR=address).post(LOGIN, {"username": name, "password": password})

    return post


def test_after_many_attempts_even_the_right_password_has_to_wait(attempt: Any, user: User) -> None:
    here = f"2001:db8:1:{user.pk:x}::1"
    for _ in range(2):
        wrong = attempt(user.username, "guess", here)
        assert wrong.status_code == 200
        assert "Please enter the correct username and password" in wrong.content.decode()
    refused = attempt(user.username, PASSWORD, f"2001:db8:1:{user.pk:x}::2")  # of the same network
    assert refused.status_code == 429
    assert TooMany(int(refused["Retry-After"])).sentence in refused.content.decode()
    assert refused["RateLimit-Policy"] == '"login-ip";q=2;w=86400'
    assert "docs_session" not in refused.cookies
    assert attempt(user.username, PASSWORD, f"2001:db8:2:{user.pk:x}::1").status_code == 302, "from elsewhere it works"


def test_scripts_and_other_sites_do_not_get_the_cookies(user: User) -> None:
    client = Client(REMOTE_ADDR=f"2001:db8:b:{user.pk:x}::1")
    client.get(LOGIN)
    client.post(LOGIN, {"username": user.username, "password": PASSWORD})
    for name in ("docs_session", "docs_csrf"):
        assert (client.cookies[name]["httponly"], client.cookies[name]["samesite"]) == (True, "Lax")


def test_attempts_from_many_addresses_count_against_the_account(attempt: Any, user: User) -> None:
    statuses = [
        attempt(name, "guess", f"2001:db8:3:{user.pk:x}{number}::1").status_code
        for number, name in enumerate([user.username, user.username.upper(), user.username, user.username])
    ]
    assert statuses == [200, 200, 200, 429]
    other = attempt(f"nobody-{user.username}", "guess", f"2001:db8:3:{user.pk:x}9::1")
    assert other.status_code == 200, "other names are not held up"


def test_strangers_do_not_lock_out_a_known_browser(attempt: Any, user: User) -> None:
    mine = Client(REMOTE_ADDR=f"2001:db8:5:{user.pk:x}::1")
    entered = mine.post(LOGIN, {"username": user.username, "password": PASSWORD})
    assert (entered.status_code, entered["Location"]) == (302, "/admin/")
    device = entered.cookies["docs_device"]
    assert (device["path"], device["httponly"], device["samesite"]) == (LOGIN, True, "Lax")
    strangers = [attempt(user.username, "guess", f"2001:db8:6:{user.pk:x}{number}::1") for number in range(3)]
    assert strangers[-1].status_code == 429
    mine.logout()  # takes the session, and with it all cookies of Django's test client
    mine.cookies["docs_device"] = device.value
    assert mine.post(LOGIN, {"username": user.username, "password": PASSWORD}).status_code == 302
    forged = Client(REMOTE_ADDR=f"2001:db8:7:{user.pk:x}::1")
    forged.cookies["docs_device"] = device.value[:-1] + ("a" if device.value[-1] != "a" else "b")
    assert forged.post(LOGIN, {"username": user.username, "password": PASSWORD}).status_code == 429
    other = User.objects.create_user(f"other-{user.username}", password=PASSWORD, is_staff=True)
    for number in range(3):
        attempt(other.username, "guess", f"2001:db8:8:{user.pk:x}{number}::1")
    borrowed = Client(REMOTE_ADDR=f"2001:db8:9:{user.pk:x}::1")
    borrowed.cookies["docs_device"] = device.value
    assert borrowed.post(LOGIN, {"username": other.username, "password": PASSWORD}).status_code == 429


@pytest.mark.parametrize("sent", [{"password": ""}, {"username": ""}, {"username": "a\x00b"}])
def test_requests_without_a_password_do_not_count(attempt: Any, user: User, sent: dict[str, str]) -> None:
    form = {"username": user.username, "password": "guess", **sent}
    here = f"2001:db8:a:{user.pk:x}::1"
    assert {attempt(form["username"], form["password"], here).status_code for _ in range(4)} == {200}
    assert attempt(user.username, PASSWORD, here).status_code == 302


def test_an_unknown_name_counts_like_a_known_one(attempt: Any, user: User) -> None:
    statuses = [
        attempt(f"nobody-{user.username}", "guess", f"2001:db8:4:{user.pk:x}{number}::1").status_code
        for number in range(4)
    ]
    assert statuses == [200, 200, 200, 429], "so that the limit tells nobody which names there are"


def test_the_old_password_of_an_open_session_cannot_be_guessed_without_end(attempt: Any, user: User) -> None:
    browser = Client()
    browser.force_login(user)
    new = {"new_password1": "another-horse-battery", "new_password2": "another-horse-battery"}

    def change(old: str) -> Any:
        return browser.post("/admin/password_change/", {"old_password": old, **new})

    for _ in range(3):
        assert "Your old password was entered incorrectly" in change("guess").content.decode()
    refused = change(PASSWORD).content.decode()
    assert "Too many" in refused
    user.refresh_from_db()
    assert user.check_password(PASSWORD)


def test_the_password_is_changed_by_who_knows_the_old_one(user: User) -> None:
    browser = Client()
    browser.force_login(user)
    assert "Documentation service" in browser.get("/admin/password_change/").content.decode()
    new = {"new_password1": "another-horse-battery", "new_password2": "another-horse-battery"}
    done = browser.post("/admin/password_change/", {"old_password": PASSWORD, **new})
    assert done["Location"] == "/admin/password_change/done/"
    user.refresh_from_db()
    assert user.check_password(new["new_password1"])
