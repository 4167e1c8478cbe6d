"""A form that a proxy has spoilt: the page says which header is wrong, and `doctor --url` finds it."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.conf import settings as django_settings
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from docsite.extras.doctor import log_in
from tests.conftest import Service
from tests.variants import first_of

Spoil = Callable[[Any], None]

LOGIN = "/admin/login/"
HOST = "docs.acme.example"


@pytest.mark.parametrize(
    ("headers", "expected"),
    first_of(
        [
            ({"HTTP_ORIGIN": f"http://{HOST}"}, ""),
            ({"HTTP_ORIGIN": f"https://{HOST}"}, ""),  # the proxy does not say that it has TLS
            ({"HTTP_ORIGIN": f"https://{HOST}", "HTTP_HOST": "127.0.0.1"}, ""),  # nor the host
            ({"HTTP_ORIGIN": f"https://{HOST}", "wsgi.url_scheme": "https"}, ""),
            (
                {"HTTP_ORIGIN": f"https://{HOST}:8443"},
                f"The page is at https://{HOST}:8443, and the header Host arrives",
            ),
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
            (
                {"HTTP_ORIGIN": f"http://{HOST}", "HTTP_COOKIE": ""},
                f"The cookie {django_settings.CSRF_COOKIE_NAME} did",
            ),
            ({"HTTP_ORIGIN": f"http://{HOST}", "token": "x" * 64}, "The form is too old"),
        ],
        2,
    ),
)
def test_a_refused_form_says_which_header_is_wrong(settings: Any, headers: dict[str, str], expected: str) -> None:
    settings.ALLOWED_HOSTS = [HOST, "127.0.0.1"]
    settings.CSRF_TRUSTED_ORIGINS = [f"https://{HOST}"]
    browser = Client(enforce_csrf_checks=True, HTTP_HOST=HOST, REMOTE_ADDR="2001:db8:77::1")
    form = browser.get(LOGIN)
    page = form.content.decode()
    assert '<meta name="referrer" content="strict-origin-when-cross-origin">' in page, "a proxy may say no-referrer"
    token = headers.pop("token", "") or page.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    answer = browser.post(LOGIN, {"csrfmiddlewaretoken": token, "username": "x", "password": "y"}, **headers)
    assert answer.status_code == (403 if expected else 200), answer.content.decode()
    assert expected in answer.content.decode()
    assert "DEBUG" not in answer.content.decode()


def test_hosts_of_the_service_are_trusted_with_tls() -> None:
    assert "https://localhost" in django_settings.CSRF_TRUSTED_ORIGINS


class Proxy(httpx.BaseTransport):
    """Forwards to the service, and spoils what arrives or what comes back."""

    def __init__(self, on_request: Spoil, on_response: Spoil) -> None:
        self.on_request, self.on_response = on_request, on_response
        self.inner = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.on_request(request)
        response = self.inner.handle_request(request)
        response.read()
        response.request = request
        self.on_response(response)
        return response


def drop(name: str, value: str = "") -> Spoil:
    """Remove the headers of a name whose value begins so."""

    def spoil(message: Any) -> None:
        kept = [pair for pair in message.headers.multi_items() if pair[0] != name or not pair[1].startswith(value)]
        message.headers = httpx.Headers(kept)

    return spoil


def put(name: str, value: str, status: int = 0) -> Spoil:
    """Set a header, in answers of a status if it is given."""

    def spoil(message: Any) -> None:
        if not status or getattr(message, "status_code", 0) == status:
            message.headers[name] = value

    return spoil


def delete_account(message: Any) -> None:
    """Do as if the address led to a service with another database."""
    get_user_model().objects.filter(username__startswith=log_in.PREFIX).delete()


def refuse(message: Any) -> None:
    """Answer forms as the limit of attempts does."""
    message.status_code = 429 if message.request.method == "POST" else message.status_code


def stay(message: Any) -> None:
    """Leave a message as it is."""


CSRF, SESSION = django_settings.CSRF_COOKIE_NAME, django_settings.SESSION_COOKIE_NAME
FAULTS = {
    "nothing": (stay, stay, "an account that was made for it could log in", ""),
    "Host": (put("host", "127.0.0.1"), stay, "the header Host arrives as 127.0.0.1", "proxy_set_header Host"),
    "scheme": (put("origin", "https://{host}"), stay, "the request arrives by http", "X-Forwarded-Proto"),
    "Cookie": (drop("cookie"), stay, f"The cookie {CSRF} did not arrive", "Allow cookies"),
    "cookies": (stay, drop("set-cookie"), f"no cookie {CSRF} arrives", "Set-Cookie"),
    "session": (stay, drop("set-cookie", SESSION), f"after the log-in, no cookie {SESSION}", "Set-Cookie"),
    "path": (stay, put("set-cookie", f"{SESSION}=x; Path=/docs", 302), "does not come back", "HTTPS_ONLY"),
    "Location": (stay, put("location", "http://inside:8000/admin/", 302), "led to http://inside:8000", "Location"),
    "database": (delete_account, stay, "does not know an account", "DATABASE_URL"),
    "limit": (stay, refuse, "too often (429)", "LIMIT_LOGIN_IP"),
    "Origin": (put("origin", "null"), stay, "does not say from which page", "Referrer-Policy"),
}


@pytest.mark.matrix
def test_doctor_logs_in_and_says_what_prevents_it(
    service: Service, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]  # as the service has
    client, host = httpx.Client, service.url.partition("//")[2]
    for name, (on_request, on_response, fact, advice) in FAULTS.items():
        if name == "scheme":
            on_request = put("origin", f"https://{host}")
        proxy = Proxy(on_request, on_response)
        monkeypatch.setattr(log_in.httpx, "Client", lambda proxy=proxy, **options: client(transport=proxy, **options))
        found = log_in.check_log_in(service.url)
        assert fact in found.fact, name
        assert advice in found.advice, name
        assert bool(advice) == bool(found.advice), name
        assert not get_user_model().objects.filter(username__startswith=log_in.PREFIX).exists(), name
    assert log_in.check_log_in(f"{service.url}/nowhere").advice == "Open it in a browser."
    assert log_in.check_log_in("http://127.0.0.1:1").advice == "Look at the proxy."


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("__Host-docs_session=x; Path=/; Secure; HttpOnly", ""),
        ("__Host-docs_session=x; Path=/docs; Secure", "arrives changed, and browsers drop it (path=/docs; secure)"),
        ("__Host-docs_session=x; Path=/; Secure; Domain=acme.example", "(domain=acme.example; path=/; secure)"),
        ("__Host-docs_session=x; Path=/", "(path=/)"),
        ("docs_session=x; Path=/", "no cookie __Host-docs_session arrives"),
    ],
)
def test_a_cookie_that_browsers_drop_is_found(line: str, expected: str) -> None:
    found = log_in._find_cookie_fault(httpx.Response(200, headers={"Set-Cookie": line}), "__Host-docs_session")
    assert expected in found
    assert bool(expected) == bool(found)


def test_the_account_of_a_run_that_was_killed_is_deleted_by_the_next(service: Service) -> None:
    users, long_ago = get_user_model().objects, timezone.now() - 2 * log_in.LEFT_BEHIND
    users.create(username=f"{log_in.PREFIX}killed", is_staff=True, date_joined=long_ago)
    users.create(username=f"{log_in.PREFIX}running", is_staff=True)
    log_in.check_log_in("http://127.0.0.1:1")
    left = users.filter(username__startswith=log_in.PREFIX)
    assert [user.username for user in left] == [f"{log_in.PREFIX}running"]
    left.delete()
