"""The account of a person whom the provider vouches for."""

import re

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction

from docsite.core import context
from docsite.core.sign_on import groups
from docsite.core.sign_on.models import Identity
from docsite.core.sign_on.provider import Claims, ProviderError, get_name

_NOT_IN_NAMES = re.compile(r"[^\w.@+-]")
NO_ACCESS = "You have no access here. Ask an owner of your organization to give your group a role, or to invite you."
SUPERUSER = "Superusers log in with a password, never by single sign-on."
NOT_LISTED = "{} does not list your groups ({}), so they give you no access. Ask an owner to invite you."
INACTIVE = "This account is switched off."
CONNECTED = "This account is connected to somebody else. Disconnect it first, under “Your log-in”."


def find(claims: Claims) -> User | None:
    """The account of this issuer and subject. An e-mail address or a name never leads to an account."""
    identity = Identity.objects.select_related("user").filter(issuer=claims.issuer, subject=claims.subject).first()
    return identity.user if identity else None


def create(claims: Claims, *, is_invited: bool) -> User:
    """Create an account without a password. Raises ProviderError for people without a role and an invitation."""
    if not is_invited:
        if claims.groups is None:
            raise ProviderError(NOT_LISTED.format(get_name(), claims.overage), 403)
        if not groups.find_roles(claims.groups):
            raise ProviderError(NO_ACCESS, 403, f"{claims.name} has no access: {groups.explain_no_role(claims)}")
    with transaction.atomic():
        name = _find_free_name(claims.name)
        context.set_actor(lambda: name)  # the session has no user yet
        user: User = get_user_model().objects.create_user(name, is_staff=True)
        Identity.objects.create(user=user, issuer=claims.issuer, subject=claims.subject)
    return user


def connect(user: User, issuer: str, subject: str) -> None:
    """Let a person log in to this account by single sign-on from now on. An account has one person of an issuer."""
    if Identity.objects.filter(user=user, issuer=issuer).exclude(subject=subject).exists():
        raise ProviderError(CONNECTED, 409)
    Identity.objects.get_or_create(issuer=issuer, subject=subject, defaults={"user": user})


def check(user: User) -> None:
    """Raise ProviderError if the account may not be opened by single sign-on."""
    if user.is_superuser:
        raise ProviderError(SUPERUSER, 403)
    if not user.is_active:
        raise ProviderError(INACTIVE, 403)


def _find_free_name(wanted: str) -> str:
    """A user name that nobody has, like the one that is wanted."""
    users = get_user_model().objects
    base = _NOT_IN_NAMES.sub("-", wanted)[:140] or "user"
    taken = {name.casefold() for name in users.filter(username__istartswith=base).values_list("username", flat=True)}
    names = (base, *(f"{base}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name.casefold() not in taken)
