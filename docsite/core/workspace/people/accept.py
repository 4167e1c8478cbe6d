"""The page behind the link of an invitation: create an account, or join with the one that is logged in."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from docsite.core import context
from docsite.core.http import ratelimit
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.http.errors import TooMany
from docsite.core.notifications.subscriptions import LINK_HEADERS
from docsite.core.sign_on import provider, single_sign_on
from docsite.core.sign_on.password import LOGIN_IP
from docsite.core.sign_on.sessions import open_session
from docsite.core.tenants import members
from docsite.core.tenants.log_in_rules import Method
from docsite.core.tenants.members import MembershipError
from docsite.core.tenants.models import Invitation

HEADERS = {**LINK_HEADERS, "Referrer-Policy": "same-origin"}  # Django checks it for the form


def accept(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation; 404 if it no longer counts. A POST accepts it, for a new account where nobody is logged in.

    A POST that fails shows the page again: 400 a wrong form, 409 a conflict, 429 too many.
    """
    form: forms.Form | BaseUserCreationForm[Any] = BaseUserCreationForm()
    status, wrong = 200, ""
    invitation = members.find_invitation(token)
    is_logged_in = request.user.is_authenticated
    may_create = bool(invitation and not invitation.organization.requires_single_sign_on)
    if request.method == "POST" and invitation and (is_logged_in or may_create):
        form = forms.Form(request.POST) if is_logged_in else BaseUserCreationForm(request.POST)
        try:
            ratelimit.spend((LOGIN_IP, network_of(client_ip(request))))
            if form.is_valid():
                _join(request, token, invitation, form)
                return HttpResponseRedirect(reverse("admin:index"))
            status = 400
        except TooMany as refusal:
            status, wrong = 429, refusal.sentence
        except MembershipError as refusal:
            status, wrong = 409, str(refusal)
        except IntegrityError:  # two requests at once
            status, wrong = 409, "Somebody has this user name already."
    shown = {
        "title": "Invitation",
        "invitation": invitation,
        "form": form,
        "wrong": wrong,
        "is_logged_in": is_logged_in,
        "may_create": may_create,
        "single_sign_on": single_sign_on.start_url(request.path),
        "provider_name": provider.get_name(),
        "login": f"{reverse('admin:login')}?{urlencode({'next': request.path})}",
    }
    status = status if invitation else 404
    return TemplateResponse(request, "admin/people/accept.html", shown, status=status, headers=HEADERS)


def _join(
    request: HttpRequest, token: str, invitation: Invitation, form: "forms.Form | BaseUserCreationForm[Any]"
) -> None:
    """Make the user, or a new one, a member. A new account is made only with its membership."""
    with transaction.atomic():
        if isinstance(form, BaseUserCreationForm):
            user = form.save(commit=False)
            user.email = invitation.email
            context.set_actor(user.get_username)  # the session has no user yet
        else:
            user = request.user
        if not user.is_staff:
            user.is_staff = True
            user.save()
        members.accept(token, user)
    if isinstance(form, BaseUserCreationForm):
        open_session(request, user, Method.PASSWORD)
