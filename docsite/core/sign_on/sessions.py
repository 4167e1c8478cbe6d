"""The session of a user who has shown who they are."""

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.contrib.auth import SESSION_KEY, login
from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.sessions.models import Session
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from docsite.core.sign_on.reauthentication import note_proof
from docsite.core.tenants.log_in_rules import Method, set_method

SINGLE_SIGN_ON_LIFETIME = timedelta(hours=12)  # then the provider is asked again, and a group that was left counts


def open_session(request: HttpRequest, user: User, method: Method, proved_at: float | None = None) -> None:
    """Log the user in. The session gets a new key, so that nobody who knows the old one is in it.

    `proved_at` is when the user has shown who they are, as Unix time. None: now.
    """
    request.log_in_method = method  # type: ignore[attr-defined]  # for the audit
    login(request, user)
    mark(request, method)
    note_proof(request, proved_at)


def mark(request: HttpRequest, method: Method) -> None:
    """Store how the user of the session has logged in, and how long that holds."""
    set_method(request, method)
    # With a number of seconds, each use of the session would renew it.
    request.session.set_expiry(SINGLE_SIGN_ON_LIFETIME if method == Method.SINGLE_SIGN_ON else None)


def end_sessions(user: AbstractBaseUser, except_key: str | None = None) -> None:
    """End the sessions of a user, except the one with the key `except_key`. Call it when the way to log in changes.

    A session does not name its user in a column, so all that have not expired are read. That takes about a second for
    each 20,000.
    """
    rows = Session.objects.filter(expire_date__gt=timezone.now()).exclude(session_key=except_key)
    own = [row.pk for row in rows.iterator() if row.get_decoded().get(SESSION_KEY) == str(user.pk)]
    Session.objects.filter(pk__in=own).delete()


def find_next(request: HttpRequest, wanted: str) -> str:
    """The address to go to after the log-in: the one that is wanted if it is of this service, else the admin."""
    is_own = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_own else reverse("admin:index")


def render_log_in(request: HttpRequest, template: str, shown: dict[str, Any], status: int = 200) -> HttpResponse:
    """A page of the log-in, which nobody stores."""
    shown = {**admin.site.each_context(request), **shown}
    headers = {"Cache-Control": "private, no-store"}
    return TemplateResponse(request, f"admin/log_in/{template}", shown, status=status, headers=headers)
