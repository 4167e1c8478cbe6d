"""The page on which people set up their own two-factor log-in, and connect their account with the provider."""

from typing import Any

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from docsite.core.http.errors import TooMany
from docsite.core.sign_on import provider, single_sign_on, two_factor
from docsite.core.sign_on.log_in_page import CodeForm
from docsite.core.sign_on.models import Identity
from docsite.core.sign_on.reauthentication import guard
from docsite.core.sign_on.sessions import end_sessions, mark, render_log_in
from docsite.core.tenants.log_in_rules import Method, get_method, list_inaccessible
from docsite.core.workspace import navigation


def show_own_log_in(request: HttpRequest) -> HttpResponse:
    """Show how the user logs in. A POST changes the second factor or its recovery codes, or ends single sign-on.

    The change may be a reaction to a stranger in the account. So a change of the second factor, or the end of single
    sign-on, ends the other sessions.
    """
    user: Any = request.user  # staff only come here
    has_password = user.has_usable_password()
    form, codes = CodeForm(), []
    if request.method == "POST" and has_password:
        if "disconnect" in request.POST:
            Identity.objects.filter(user=user).delete()
            if get_method(request) == Method.SINGLE_SIGN_ON:  # it has shown no password
                logout(request)
                return HttpResponseRedirect(reverse("admin:login"))
            end_sessions(user, request.session.session_key)
        elif "begin" in request.POST and not two_factor.is_set_up(user):
            two_factor.create_secret(user)
        else:
            form = CodeForm(request.POST)
            codes = _change(request, user, form) if form.is_valid() else []
    pending = two_factor.find_pending(user) if request.method == "POST" else None
    picture, secret = two_factor.describe(pending) if pending else ("", "")
    context = {
        "title": "Your log-in",
        "closed": list_inaccessible(request),
        "has_password": has_password,
        "is_set_up": two_factor.is_set_up(user),
        "codes": codes,
        "codes_left": two_factor.count_recovery_codes(user),
        "picture": picture,
        "secret": secret,
        "form": CodeForm() if codes else form,
        "single_sign_on": single_sign_on.start_url(reverse("admin:account_log_in")),
        "provider_name": provider.get_name(),
        "identity": Identity.objects.filter(user=user).first(),
    }
    return render_log_in(request, "account.html", context, 400 if form.errors else 200)


def _change(request: HttpRequest, user: Any, form: CodeForm) -> list[str]:
    """Do what the form asks for, if its code is right. Returns new recovery codes."""
    code = form.cleaned_data["code"]
    try:
        if "confirm" in request.POST:
            codes = two_factor.confirm(user, code)
            if codes:
                if get_method(request) == Method.PASSWORD:
                    mark(request, Method.SECOND_FACTOR)
                    request.session.cycle_key()
                end_sessions(user, request.session.session_key)
            else:
                form.add_error("code", "This code is not right. Does the clock of your phone tell the right time?")
            return codes
        if not two_factor.verify(user, code):
            form.add_error("code", "This code is not right, or was used before.")
        elif "renew" in request.POST:
            return two_factor.renew_recovery_codes(user)
        elif "remove" in request.POST:
            two_factor.remove(user)
            if get_method(request) == Method.SECOND_FACTOR:
                mark(request, Method.PASSWORD)
            end_sessions(user, request.session.session_key)
    except TooMany as refusal:
        form.add_error("code", refusal.sentence)
    return []


navigation.add_address("account/log-in", show_own_log_in, "account_log_in")
guard("account_log_in")
