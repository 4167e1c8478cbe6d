"""The admin's log-in, which cannot be tried for as long as it takes to guess a password."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from docsite.http import ratelimit
from docsite.http.client_ip import client_ip, network_of
from docsite.http.errors import TooMany


class LoginForm(AdminAuthenticationForm):
    """Django's form; each attempt counts against its address and the account it names, whether that exists or not."""

    refusal: TooMany | None = None

    def clean(self) -> dict[str, Any]:
        """Refuse before the password is looked at, so that a refused one tells nothing."""
        account = self.cleaned_data.get("username", "").casefold()
        address = network_of(client_ip(self.request))  # type: ignore[arg-type]  # the view gives it
        try:
            ratelimit.spend((ratelimit.LOGIN_IP, address), (ratelimit.LOGIN_ACCOUNT, account))
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
    return response
