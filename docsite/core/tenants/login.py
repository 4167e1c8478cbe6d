"""The admin's log-in, in which passwords are not guessed: attempts are counted by address and by account.

Whoever fails often enough under a name holds that name up for everyone but the browsers
that have logged in with it before: they keep a signed "device cookie"
(https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies).
"""

import hashlib
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from docsite.core.http import ratelimit
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.http.errors import TooMany
from docsite.core.http.ratelimit import Limit

LOGIN_IP = Limit("login-ip", "limit_login_ip", fail_open=True)
LOGIN_ACCOUNT = Limit("login-account", "limit_login_account", fail_open=True)
DEVICE = "device"
KNOWN_FOR = timedelta(days=180)


class LoginForm(AdminAuthenticationForm):
    """Django's form. `refusal` is set when there were too many attempts."""

    refusal: TooMany | None = None

    def clean(self) -> dict[str, Any]:
        """Refuse before the password is looked at, so that a refusal tells nothing about it."""
        if self.errors:  # no name or no password: nothing is guessed
            return self.cleaned_data
        assert self.request is not None  # the view gives it
        account = _account(self.cleaned_data["username"])
        charges = [(LOGIN_IP, network_of(client_ip(self.request)))]
        if self.request.get_signed_cookie(DEVICE, "", max_age=KNOWN_FOR) != account:
            charges.append((LOGIN_ACCOUNT, account))
        try:
            ratelimit.spend(*charges)
        except TooMany as refusal:
            self.refusal = refusal
            raise ValidationError(refusal.sentence, code="throttled") from None
        return super().clean()


def login(request: HttpRequest) -> HttpResponseBase:
    """The admin's own page; 429 with `Retry-After` when there were too many attempts."""
    response = admin.site.login(request)
    form = getattr(response, "context_data", {}).get("form")
    if isinstance(form, LoginForm) and form.refusal:
        response.status_code = form.refusal.status
        for name, value in form.refusal.headers.items():
            response.headers[name] = value
    elif request.method == "POST" and request.user.is_authenticated:
        account = _account(request.user.get_username())
        response.set_signed_cookie(DEVICE, account, max_age=KNOWN_FOR, path=request.path, httponly=True, samesite="Lax")
    return response


def _account(name: str) -> str:
    """What stands for a user name, of one length and fit for a cookie."""
    return hashlib.sha256(name.casefold().encode()).hexdigest()
