"""The log-in page of the admin, and the pages that ask for more: a code, or the password once more."""

import time

from django import forms
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse

from docsite.core.http.errors import TooMany
from docsite.core.sign_on import provider, single_sign_on, two_factor
from docsite.core.sign_on.password import LoginForm, OwnPasswordForm, remember_browser
from docsite.core.sign_on.reauthentication import PROOF_SECONDS, note_proof
from docsite.core.sign_on.sessions import find_next, mark, open_session, render_log_in
from docsite.core.tenants.log_in_rules import Method

CODE_SECONDS = 300  # between the password and the code
_WAITING = "waits_for_code"


class CodeForm(forms.Form):
    """A code of the app, or a recovery code."""

    code = forms.CharField(
        max_length=40,
        help_text="The six digits of your app, or one of your recovery codes.",
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}),
    )


def login(request: HttpRequest) -> HttpResponseBase:
    """The log-in page; 429 with `Retry-After` after too many attempts."""
    after = find_next(request, request.POST.get("next") or request.GET.get("next", ""))
    button = {"single_sign_on": single_sign_on.start_url(after), "provider_name": provider.get_name()}
    response = admin.site.login(request, button)
    form = getattr(response, "context_data", {}).get("form")
    if isinstance(form, LoginForm) and form.refusal:
        _set_status(response, form.refusal)
    elif isinstance(form, LoginForm) and (user := form.user_without_code):
        password = user.get_session_auth_hash()
        request.session[_WAITING] = {"user": user.pk, "password": password, "at": time.time(), "next": after}
        request.session.cycle_key()
        return HttpResponseRedirect(reverse("log_in_code"))
    elif request.method == "POST" and isinstance(response, HttpResponseRedirect):
        mark(request, Method.PASSWORD)
        note_proof(request)
        remember_browser(response, request.user)
    return response


def ask_code(request: HttpRequest) -> HttpResponse:
    """Ask for the code after the password. Without a password, or too late, it leads back to the log-in page."""
    user = _find_waiting(request)
    if user is None:
        return HttpResponseRedirect(reverse("admin:login"))
    form = CodeForm(request.POST if request.method == "POST" else None)
    refusal = None
    if form.is_valid():
        try:
            if two_factor.verify(user, form.cleaned_data["code"]):
                after = find_next(request, request.session.pop(_WAITING)["next"])
                open_session(request, user, Method.SECOND_FACTOR)
                response = HttpResponseRedirect(after)
                remember_browser(response, user)
                return response
            credentials = {"username": user.get_username(), "by": "code"}
            user_login_failed.send(__name__, credentials=credentials, request=request)
            form.add_error("code", "This code is not right, or was used before.")
        except TooMany as wait:
            refusal = wait
            form.add_error("code", wait.sentence)
    page = render_log_in(request, "code.html", {"title": "Your code", "form": form})
    if refusal:
        _set_status(page, refusal)
    return page


def ask_proof(request: HttpRequest) -> HttpResponse:
    """Ask the user of a session who they are, before they change credentials: by password, or at the provider.

    The session gets a new key: whoever has stolen the old one must not share the proof.
    """
    user = request.user
    if not user.is_authenticated:
        return HttpResponseRedirect(reverse("admin:login"))
    after = find_next(request, request.GET.get("next", ""))
    has_password = user.has_usable_password()
    form = OwnPasswordForm(user, request.POST if has_password and request.method == "POST" else None)
    if form.is_valid():
        note_proof(request)
        request.session.cycle_key()
        return HttpResponseRedirect(after)
    if form.has_error("password", "wrong"):
        credentials = {"username": user.get_username(), "by": "password for a change"}
        user_login_failed.send(__name__, credentials=credentials, request=request)
    shown = {
        "title": "Confirm that it is you",
        "form": form if has_password else None,
        "start": "" if user.is_superuser else single_sign_on.start_url(after, as_proof=True),
        "provider_name": provider.get_name(),
        "minutes": int(PROOF_SECONDS // 60),
    }
    return render_log_in(request, "proof.html", shown, 400 if form.errors else 200)


def _find_waiting(request: HttpRequest) -> User | None:
    """The user whose password was right a moment ago, and has not changed since."""
    waiting = request.session.get(_WAITING)
    if not waiting or waiting["at"] < time.time() - CODE_SECONDS:
        return None
    user = get_user_model().objects.filter(pk=waiting["user"], is_active=True).first()
    return user if user and user.get_session_auth_hash() == waiting["password"] else None


def _set_status(response: HttpResponseBase, refusal: TooMany) -> None:
    response.status_code = refusal.status
    for name, value in refusal.headers.items():
        response.headers[name] = value
