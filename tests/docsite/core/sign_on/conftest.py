"""A real provider in a process of its own, and a browser that logs in there."""

import itertools
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from django.test import Client

from docsite.extras.openid_connect.settings import OpenIdSettings
from tests.conftest import PATIENCE, ROOT
from tests.oidc_provider import CLIENT_ID, SECRET
from tests.ports import free_port

_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def _fast_passwords(settings: Any) -> None:
    """Each check of a password takes half a second of CPU time otherwise."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@dataclass
class Provider:
    """The running provider."""

    url: str

    def set_claims(self, subject: str, **claims: Any) -> None:
        """Say who a person is from now on."""
        self._client().put(f"{self.url}/users/{subject}", json=claims).raise_for_status()

    def authorize(self, address: str, subject: str) -> str:
        """Log in at the provider in a browser. Returns the address that it leads back to."""
        data = {"sub": subject} if subject else {"action": "deny"}
        response = self._client().post(address, data=data)
        assert response.status_code == 302, response.text
        back = urlsplit(response.headers["Location"])
        state = "" if "state=" in back.query else "&state=" + parse_qs(urlsplit(address).query)["state"][0]
        return f"{back.path}?{back.query}{state}"  # the provider forgets the state of refusals

    def log_in(self, subject: str, browser: Client | None = None, after: str = "") -> tuple[Client, Any]:
        """Log in to the service by this provider. Returns the browser and the response of the service."""
        browser = browser or new_browser()
        start = browser.get("/admin/login/single-sign-on", {"next": after})
        assert start.status_code == 302, start.content.decode()
        return browser, browser.get(self.authorize(start["Location"], subject))

    def _client(self) -> httpx.Client:
        return httpx.Client(timeout=PATIENCE, trust_env=False)


def new_browser() -> Client:
    """A browser at an address of its own, which has spent no limit."""
    return Client(REMOTE_ADDR=f"2001:db8:50:{next(_numbers):x}::1")


@pytest.fixture(scope="session")
def provider_process() -> Iterator[Provider]:
    """Start the provider."""
    port = free_port()
    command = [sys.executable, "tests/oidc_provider.py", str(port)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    yield Provider(f"http://127.0.0.1:{port}")
    process.terminate()
    process.wait(PATIENCE)


@pytest.fixture
def provider(provider_process: Provider, settings: Any) -> Provider:
    """The provider that the service trusts."""
    own = OpenIdSettings(
        oidc_issuer=provider_process.url, oidc_client_id=CLIENT_ID, oidc_client_secret=SECRET, oidc_name="Example ID"
    )
    settings.EXTRAS = {**settings.EXTRAS, OpenIdSettings: own}
    return provider_process
