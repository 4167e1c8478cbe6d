"""A form that a proxy has spoilt: the page says which header is wrong, and `doctor --url` finds it."""

from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from django.conf import settings as django_settings
from django.test import Client

from docsite.server.doctor import proxy
from tests.conftest import Service

LOGIN = "/admin/login/"
HOST = "docs.acme.example"


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"HTTP_ORIGIN": f"http://{HOST}"}, ""),
        ({"HTTP_ORIGIN": f"https://{HOST}"}, ""),  # the proxy does not say that it has TLS
        ({"HTTP_ORIGIN": f"https://{HOST}", "HTTP_HOST": "127.0.0.1"}, ""),  # nor the host
        ({"HTTP_ORIGIN": f"https://{HOST}", "wsgi.url_scheme": "https"}, ""),
        ({"HTTP_ORIGIN": f"https://{HOST}:8443"}, f"The page is at https://{HOST}:8443, and the header Host arrives"),
        ({"HTTP_ORIGIN": "https://other.example", "HTTP_HOST": "127.0.0.1"}, "proxy_set_header Host $http_host"),
        ({"HTTP_ORIGIN": "https://127.0.0.1:8000", "HTTP_HOST": "127.0.0.1:8000"}, "X-Forwarded-Proto"),
        ({"HTTP_ORIGIN": "null"}, "Referrer-Policy: no-referrer"),
        ({"HTTP_ORIGIN": "<b>x"}, "The page is at &lt;b&gt;x,"),
        ({"wsgi.url_scheme": "https"}, "(Origin: missing)"),
        ({"wsgi.url_scheme": "https", "HTTP_REFERER": "/path"}, "(Origin: missing)"),
        (
            {"wsgi.url_scheme": "https", "HTTP_REFERER": "https://other.example/<x"},
            "other.example/&lt;x, and",
        ),
        ({"wsgi.url_scheme": "https", "HTTP_REFERER": f"http://{HOST}/a"}, f"The page is at http://{HOST}/a, and"),
        ({"HTTP_ORIGIN": f"http://{HOST}", "HTTP_COOKIE": ""}, f"The cookie {django_settings.CSRF_COOKIE_NAME} did"),
        ({"HTTP_ORIGIN": f"http://{HOST}", "token": "x" * 64}, "The form is too old"),
    ],
)
def test_a_refused_form_says_which_header_is_wrong(settings: Any, headers: dict[str, str], told: str) -> None:
    settings.ALLOWED_HOSTS = [HOST, "127.0.0.1"]
    settings.CSRF_TRUSTED_ORIGINS = [f"https://{HOST}"]
    browser = Client(enforce_csrf_checks=True, HTTP_HOST=HOST, REMOTE_ADDR="2001:db8:77::1")
    form = browser.get(LOGIN)
    page = form.content.decode()
    assert '<meta name="referrer" content="strict-origin-when-cross-origin">' in page, "a proxy may say no-referrer"
    token = headers.pop("token", "") or page.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    answer = browser.post(LOGIN, {"csrfmiddlewaretoken": token, "username": "x", "password": "y"}, **headers)
    assert answer.status_code == (403 if told else 200), answer.content.decode()
    assert told in answer.content.decode()
    assert "DEBUG" not in answer.content.decode()


def test_hosts_of_the_service_are_trusted_with_tls() -> None:
    assert "https://localhost" in django_settings.CSRF_TRUSTED_ORIGINS


def test_doctor_sends_the_form_of_the_log_in(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    found = proxy.check_log_in(service.url)
    assert (found.fact, found.advice) == ("the form of the log-in page is taken, with its cookie", "")
    found = proxy.check_log_in(f"{service.url}/nowhere")
    assert found.advice == "Open it in a browser."
    monkeypatch.setattr(proxy, "urlsplit", lambda url: urlsplit("https://other.example"))
    found = proxy.check_log_in(service.url)
    host = service.url.partition("//")[2]
    assert found.fact == (
        f"the form is refused with 403. The page is at https://other.example, and the header Host arrives as {host}"
    )
    assert "proxy_set_header Host" in found.advice
    monkeypatch.undo()
    for status, text, told in (
        (429, "", ("this host has tried to log in too often (429)", "Wait up to an hour")),
        (403, "", ("the form is refused with 403", "Look at the proxy and at the log.")),
    ):
        answer = httpx.Response(status, text=text)
        monkeypatch.setattr(proxy.httpx.Client, "post", lambda *_, answer=answer, **__: answer)
        found = proxy.check_log_in(service.url)
        assert found.fact == told[0]
        assert found.advice.startswith(told[1])
    monkeypatch.setattr(proxy.httpx.Client, "post", _refuse)
    assert proxy.check_log_in(service.url).fact.endswith("ConnectError")


def _refuse(*arguments: Any, **options: Any) -> Any:
    raise httpx.ConnectError("refused")
