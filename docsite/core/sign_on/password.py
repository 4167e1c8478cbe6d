"""The log-in by password, with limits against password guessing: by client address and by account.

Many failures block an account, except for browsers that have logged in to it before:
they keep a signed "device cookie"
(https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies).
"""

import hashlib
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm, AdminPasswordChangeForm
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import ValidationError
from django.http.response import HttpResponseBase
from django.urls import reverse

from docsite.core.http import ratelimit
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.http.errors import TooMany
from docsite.core.http.ratelimit import Limit
from docsite.core.sign_on import two_factor

_ACCOUNT_RATE = "100/h"
LOGIN_IP = Limit("login-ip", "limit_login_ip", fail_open=True)
LOGIN_ACCOUNT = Limit("login-account", _ACCOUNT_RATE, "Attempts to log in per user name", fail_open=True)
# Of the user who is logged in: strangers who guess the password must not use it up.
OWN_PASSWORD = Limit("own-password", _ACCOUNT_RATE, "Passwords that confirm a change", fail_open=True)
DEVICE_COOKIE = "docs_device"
DEVICE_LIFETIME = timedelta(days=180)


class LoginForm(AdminAuthenticationForm):
    """Django's form. `refusal` is set when there were too many attempts.

    `user_without_code` is set when the password is right, but the account also needs a code.
    """

    refusal: TooMany | None = None
    user_without_code: User | None = None

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
        cleaned = super().clean()
        user = self.get_user()
        if user and two_factor.is_set_up(user):
            self.user_without_code = user
            raise ValidationError("A code is needed, too.", code="second_factor")
        return cleaned


class OwnPasswordForm(forms.Form):
    """The password of the user who is logged in, asked for before a change of how the account is opened."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "autofocus": True}),
    )

    def __init__(self, user: User, *arguments: Any, **values: Any) -> None:
        super().__init__(*arguments, **values)
        self.user = user

    def clean_password(self) -> str:
        """Check the password."""
        password: str = self.cleaned_data["password"]
        _spend_attempt(self.user)
        if not self.user.check_password(password):
            raise ValidationError("This is not your password.", code="wrong")
        return password


class PasswordChangeForm(AdminPasswordChangeForm):
    """Django's form, with a limit against guessing the old password."""

    def clean_old_password(self) -> str:
        """Check the old password."""
        _spend_attempt(self.user)
        old: str = super().clean_old_password()
        return old


def _spend_attempt(user: AbstractBaseUser) -> None:
    """Count an attempt of a user who is logged in. Raises ValidationError after too many."""
    try:
        ratelimit.spend((OWN_PASSWORD, str(user.pk)))
    except TooMany as refusal:
        raise ValidationError(refusal.sentence, code="throttled") from None


def remember_browser(response: HttpResponseBase, user: AbstractBaseUser | AnonymousUser) -> None:
    """Give the browser the cookie of one that has logged in to this account."""
    response.set_signed_cookie(
        DEVICE_COOKIE,
        _account(user.get_username()),
        max_age=DEVICE_LIFETIME,
        path=reverse("admin:login"),
        httponly=True,
        samesite="Lax",
    )


def _account(name: str) -> str:
    """A hash of a user name, of fixed length and safe in a cookie."""
    return hashlib.sha256(name.casefold().encode()).hexdigest()
