"""Who can read the log creates the first account in the browser; nobody creates a second one that way."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from docsite.core.workspace.people.first_account import build_code

pytestmark = pytest.mark.slow

ACCOUNT = {"username": "olu", "password1": "correct-horse-battery", "password2": "correct-horse-battery"}


@pytest.fixture(autouse=True)
def _nobody(db: None) -> None:
    """Remove all accounts, until the end of the test."""
    get_user_model().objects.all().delete()


def test_the_code_of_the_log_makes_a_superuser(client: Client) -> None:
    page = client.get("/first-account")
    assert page.status_code == 200
    assert page["Cache-Control"] == "private, no-store"
    assert build_code() not in page.content.decode()
    response = client.post("/first-account", {**ACCOUNT, "code": f" {build_code()} "})
    assert response["Location"] == "/admin/"
    user = get_user_model().objects.get()
    assert (user.username, user.is_superuser, user.is_staff) == ("olu", True, True)
    assert client.get("/admin/").status_code == 200
    for answer in (client.get("/first-account"), client.post("/first-account", {**ACCOUNT, "code": build_code()})):
        assert answer.status_code == 404


@pytest.mark.parametrize("code", ["", "0" * 20, "wrong"])
def test_another_code_makes_nobody(client: Client, code: str) -> None:
    assert client.post("/first-account", {**ACCOUNT, "code": code}).status_code == 400
    assert not get_user_model().objects.exists()


def test_guesses_are_limited(client: Client, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"limit_login_ip": "2/d"})
    wrong = {**ACCOUNT, "code": "x"}
    statuses = [client.post("/first-account", wrong, REMOTE_ADDR="192.0.2.77").status_code for _ in range(3)]
    assert statuses == [400, 400, 429]
