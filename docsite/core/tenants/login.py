"""The log-in of the admin, with limits against password guessing: by client address and by account.

Many failures block an account, except for browsers that have logged in to it before:
they keep a signed "device cookie"
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
DEVICE_COOKIE = "device"
DEVICE_LIFETIME = timedelta(days=180)


class LoginForm(AdminAuthenticationForm):
    """Django's form. `refusal` is set when there were too many attempts."""

    refusal: TooMany | None = None

    def clean(self) -> dict[str, Any]:
        """Refuse before the password is checked, so that a refusal says nothing about it."""
        if self.errors:  # without name or password it is no attempt
            return self.cleaned_data
        assert self.request is not None  # the view passes it
        account = _account(self.cleaned_data["username"])
        charges = [(LOGIN_IP, network_of(client_ip(self.request)))]
        if self.request.get_signed_cookie(DEVICE_COOKIE, "", max_age=DEVICE_LIFETIME) != account:
            charges.append((LOGIN_ACCOUNT, account))
        try:
            ratelimit.spend(*charges)
        except TooMany as refusal:
            self.refusal = refusal
            raise ValidationError(refusal.sentence, code="throttled") from None
        return super().clean()


def login(request: HttpRequest) -> HttpResponseBase:
    """The log-in page of the admin; 429 with `Retry-After` after too many attempts."""
    response = admin.site.login(request)
    form = getattr(response, "context_data", {}).get("form")
    if isinstance(form, LoginForm) and form.refusal:
        response.status_code = form.refusal.status
        for name, value in form.refusal.headers.items():
            response.headers[name] = value
    elif request.method == "POST" and request.user.is_authenticated:
        account = _account(request.user.get_username())
        response.set_signed_cookie(
            DEVICE_COOKIE, account, max_age=DEVICE_LIFETIME, path=request.path, httponly=True, samesite="Lax"
        )
    return response


def _account(name: str) -> str:
    """A hash of a user name, of fixed length and safe in a cookie."""
    return hashlib.sha256(name.casefold().encode()).hexdigest()
