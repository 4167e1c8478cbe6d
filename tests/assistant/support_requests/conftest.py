"""A project whose readers can write to a person, with a real mail server and a real webhook."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from assistant.models import SupportSettings
from assistant.support_requests import form_tokens
from docsite.core.delivery import webhooks
from tests.receivers import MailServer, Receiver, serve_mail, serve_webhook

DOCS = "https://docs.acme.example"


@dataclass
class Desk:
    """A service and what its support requests arrive at."""

    service: Any
    mail: MailServer
    receiver: Receiver


@pytest.fixture(scope="module")
def desk(start: Any, django_db_setup: None) -> Iterator[Desk]:
    """A service that sends to a mail server and may call a webhook on this machine."""
    with serve_mail() as mail, serve_webhook() as receiver:
        environment = {
            "EMAIL_URL": mail.url,
            "EMAIL_FROM": "docs@service.example",
        }
        yield Desk(start.fresh(**environment), mail, receiver)


@pytest.fixture
def switch_on(desk: Desk) -> Any:
    """Let a project take support requests, by e-mail and webhook. Returns the secret of the webhook."""

    def switch(project: Any, emails: tuple[str, ...] = ("owner@acme.example",), *, webhook: bool = True) -> str:
        row, secret = webhooks.store(project, None, desk.receiver.url) if webhook else (None, "")
        SupportSettings.objects.create(project=project, service_url=desk.service.url, emails=list(emails), webhook=row)
        return secret

    return switch


def old_token(project: Any, monkeypatch: pytest.MonkeyPatch, seconds: float = 60) -> str:
    """The token of a form that was opened so long ago."""
    with monkeypatch.context() as patch:
        now = time.time()
        patch.setattr(form_tokens.time, "time", lambda: now - seconds)
        return form_tokens.issue(project)


@pytest.fixture
def write(desk: Desk, http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Send a support request as a reader's browser does."""

    def send(project: Any, headers: Any = None, **fields: Any) -> httpx.Response:
        body = {
            "token": old_token(project, monkeypatch),
            "email": "ada@reader.example",
            "subject": "Matrix printers",
            "message": "How do I print on a matrix printer?",
            **fields,
        }
        url = f"{desk.service.url}/discovery/v1/support/{project.domain}"
        return http.post(url, json=body, headers={"Origin": DOCS} if headers is None else headers)

    return send
