"""The log-in through the proxy as a browser does it, with an account that exists for seconds and may see nothing."""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from html import unescape
from importlib import import_module

import httpx
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import DatabaseError
from django.utils import timezone

from docsite.core.components import Finding
from docsite.core.logs import describe
from docsite.core.unicode.addresses import urlsplit

SECONDS = 10.0
PREFIX = "doctor-"  # of the names of accounts
LEFT_BEHIND = timedelta(minutes=10)  # an account of a run that was killed
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w{1,100})"')
_TOLD = re.compile(r'<p id="(?:why|advice)">([^<]{0,1000})</p>')
_COOKIES = "Let the proxy pass on Set-Cookie as it is: without proxy_cookie_path or _domain, or a cache of /admin/."


def check_log_in(url: str) -> Finding:
    """Log in at the URL with a new account, which is deleted again: whether that works, else what prevents it.

    A database that does not answer is a finding, too.
    """
    try:
        with _create_account() as (name, password), httpx.Client(timeout=SECONDS) as browser:
            return Finding("Log-in", *_log_in(browser, str(httpx.URL(url)).rstrip("/"), name, password))
    except DatabaseError as failure:
        return Finding("Log-in", f"it could not be tried: {describe(failure)}", "See the line “Database”.")
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as failure:
        return Finding("Log-in", f"{url}: {type(failure).__name__}", "Look at the proxy.")


@contextmanager
def _create_account() -> Iterator[tuple[str, str]]:
    """The name and the password of an account without an organization. It is deleted at the end."""
    users = get_user_model().objects
    users.filter(username__startswith=PREFIX, date_joined__lt=timezone.now() - LEFT_BEHIND).delete()
    password = secrets.token_urlsafe(32)
    user = users.create_user(f"{PREFIX}{secrets.token_hex(8)}", password=password, is_staff=True)
    try:
        yield user.get_username(), password
    finally:
        user.delete()


def _log_in(browser: httpx.Client, url: str, name: str, password: str) -> tuple[str, str]:
    """What came of it, and what to do."""
    page, parts = f"{url}/admin/login/", urlsplit(url)
    form = browser.get(page)
    token = _TOKEN.search(form.text)
    if not token:
        return f"{page} answers {form.status_code} and has no form", "Open it in a browser."
    if fault := _find_cookie_fault(form, settings.CSRF_COOKIE_NAME):
        return f"with the page of the log-in, {fault}", _COOKIES
    fields = {"csrfmiddlewaretoken": token[1], "username": name, "password": password}
    sent = browser.post(page, data=fields, headers={"Origin": f"{parts.scheme}://{parts.netloc}", "Referer": page})
    if sent.status_code == httpx.codes.OK:
        advice = "Does the address lead to a service with this DATABASE_URL? Compare it with that of its processes."
        return "the service there does not know an account that was just made here", advice
    if sent.status_code == httpx.codes.TOO_MANY_REQUESTS:
        advice = "Wait up to an hour, or raise LIMIT_LOGIN_IP. If all readers share it, see the line “Proxy”."
        return "this host has tried to log in too often (429)", advice
    if sent.status_code != httpx.codes.FOUND:
        remarks = [unescape(text) for text in _TOLD.findall(sent.text)] or ["", "Look at the proxy and at the log."]
        return f"the form is refused with {sent.status_code}. {remarks[0]}".rstrip(". "), remarks[-1]
    if fault := _find_cookie_fault(sent, settings.SESSION_COOKIE_NAME):
        return f"after the log-in, {fault}", _COOKIES
    inside = httpx.URL(page).join(sent.headers.get("Location", ""))
    if not str(inside).startswith(f"{url}/"):
        advice = "Let the proxy pass on Host with its port and X-Forwarded-Proto, and leave Location as it is."
        return f"after the log-in the browser is led to {inside}", advice
    answer = browser.get(inside)
    import_module(settings.SESSION_ENGINE).SessionStore(browser.cookies.get(settings.SESSION_COOKIE_NAME)).delete()
    if answer.status_code != httpx.codes.OK:
        advice = "With HTTPS_ONLY the address must begin with https://. Let the proxy pass on Cookie, without a cache."
        return f"the cookie of the session does not come back: {inside} answers {answer.status_code}", advice
    return "an account that was made for it could log in; form, cookies and session arrive", ""


def _find_cookie_fault(answer: httpx.Response, name: str) -> str:
    """What a browser finds wrong with a cookie, which must be there; empty if nothing is."""
    sent = [line for line in answer.headers.get_list("Set-Cookie") if line.startswith(f"{name}=")]
    if not sent:
        return f"no cookie {name} arrives"
    attributes = sorted(part.strip().lower() for part in sent[0].split(";")[1:])
    is_bound = {"secure", "path=/"} <= {*attributes} and not any(one.startswith("domain=") for one in attributes)
    if name.startswith("__Host-") and not is_bound:
        return f"the cookie {name} arrives changed, and browsers drop it ({'; '.join(attributes)})"
    return ""
