"""Single sign-on: the way to the provider and back, and connecting an account that has a password."""

import logging
import time
from typing import Any

from django.contrib.auth.signals import user_login_failed
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import resolve, reverse
from django.utils.http import urlencode

from docsite.core import context
from docsite.core.base_path import without_base
from docsite.core.http import ratelimit
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.http.errors import TooMany
from docsite.core.sign_on import accounts, groups, provider
from docsite.core.sign_on.password import LOGIN_IP
from docsite.core.sign_on.provider import Claims, ProviderError
from docsite.core.sign_on.reauthentication import has_proof, proof_url
from docsite.core.sign_on.sessions import find_next, open_session, render_log_in
from docsite.core.tenants import members
from docsite.core.tenants.log_in_rules import Method, list_inaccessible

logger = logging.getLogger(__name__)

PENDING_SECONDS = 600  # that a log-in may take, and that a connection may wait to be confirmed
MAX_AGE = 60  # seconds since the log-in at the provider, for a proof of who is there
_NEXT, _PENDING = "single_sign_on_next", "single_sign_on_pending"


def start_url(after: str = "", *, as_proof: bool = False) -> str:
    """The address that begins single sign-on. Empty without a provider. `after`: the address to go to afterwards.

    `as_proof`: the provider has to ask the person, even if they are logged in there.
    """
    if not provider.is_configured():
        return ""
    query = {"next": after} if after else {}
    query |= {"proof": "1"} if as_proof else {}
    return reverse("single_sign_on") + (f"?{urlencode(query)}" if query else "")


def start(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider."""
    own = provider.find()
    if own is None:
        raise Http404
    try:
        ratelimit.spend((LOGIN_IP, network_of(client_ip(request))))
        max_age = MAX_AGE if "proof" in request.GET else None
        back = request.build_absolute_uri(reverse("single_sign_on_callback"))
        response = own.redirect(request, back, max_age)
    except TooMany as refusal:
        return _refuse(request, refusal.sentence, refusal.status)
    except ProviderError as failure:
        return _fail(request, failure)
    request.session[_NEXT] = find_next(request, request.GET.get("next", ""))
    if not request.user.is_authenticated:
        request.session.set_expiry(PENDING_SECONDS)
    return response


def finish(request: HttpRequest) -> HttpResponse:
    """Take the browser back from the provider: log in, or ask whether to connect the account that is logged in."""
    own = provider.find()
    if own is None:
        raise Http404
    after = find_next(request, request.session.pop(_NEXT, ""))
    try:
        claims = own.finish(request)
        user = accounts.find(claims)
        if user is None and request.user.is_authenticated:
            _check_may_connect(request)
            request.session[_PENDING] = {"claims": vars(claims), "at": time.time()}
            return HttpResponseRedirect(reverse("single_sign_on_connect"))
        _enter(request, claims, after)
    except ProviderError as failure:
        return _fail(request, failure)
    except IntegrityError:  # two log-ins at once
        return _refuse(request, "Somebody has logged in with the same name at this moment. Try again.", 409)
    return HttpResponseRedirect(after)


def connect(request: HttpRequest) -> HttpResponse:
    """Ask whether the account of the session may be opened by single sign-on from now on. A POST does it."""
    pending = request.session.get(_PENDING)
    if not pending or pending["at"] < time.time() - PENDING_SECONDS or not request.user.is_authenticated:
        return HttpResponseRedirect(reverse("admin:index"))
    if not has_proof(request):
        return HttpResponseRedirect(proof_url(request.path))
    try:
        _check_may_connect(request)
        if request.method != "POST":
            shown = {"title": "Connect your account", "name": pending["claims"]["name"]}
            return _render(request, "connect.html", shown)
        del request.session[_PENDING]
        claims = Claims(**pending["claims"])
        accounts.connect(request.user, claims.issuer, claims.subject)
        _enter(request, claims, "")
    except ProviderError as failure:
        return _fail(request, failure)
    return HttpResponseRedirect(reverse("admin:index"))


def _enter(request: HttpRequest, claims: Claims, after: str) -> None:
    """Find or create the account, apply the groups, and log in."""
    user = accounts.find(claims) or accounts.create(claims, is_invited=_leads_to_invitation(after))
    accounts.check(user)
    name = user.get_username()
    context.set_actor(lambda: name)
    groups.sync_roles(user, claims)
    open_session(request, user, Method.SINGLE_SIGN_ON, claims.authenticated_at)


def _check_may_connect(request: HttpRequest) -> None:
    """Raise ProviderError (403) if the account belongs to an organization that this session may not open."""
    closed = list_inaccessible(request)
    if closed:
        raise ProviderError(
            f"{closed[0]} requires another way to log in. Ask an owner of that organization to invite you again.", 403
        )
    assert request.user.is_authenticated  # both callers have checked it
    accounts.check(request.user)


def _leads_to_invitation(after: str) -> bool:
    """Whether an address is the link of an invitation that waits."""
    try:
        match = resolve(without_base(after))
    except Http404:
        return False
    return match.url_name == "invitation" and members.find_invitation(match.kwargs["token"]) is not None


def _fail(request: HttpRequest, failure: ProviderError) -> HttpResponse:
    """Tell the user, the log and the audit."""
    if failure.status != 400:  # which anybody can cause, without the provider and without a limit
        logger.warning("Single sign-on failed: %s", failure.cause)
        user_login_failed.send(__name__, credentials={"by": Method.SINGLE_SIGN_ON.value}, request=request)
    return _refuse(request, str(failure), failure.status)


def _refuse(request: HttpRequest, wrong: str, status: int) -> HttpResponse:
    return _render(request, "failed.html", {"title": "The log-in did not work", "wrong": wrong}, status)


def _render(request: HttpRequest, template: str, shown: dict[str, Any], status: int = 200) -> HttpResponse:
    names = {"provider_name": provider.get_name(), "start": start_url(), "login": reverse("admin:login")}
    return render_log_in(request, template, {**names, **shown}, status)
