"""How a session was opened, and which organizations this session may open.

An organization may require single sign-on, or a second factor. Its members may log in by password all the same, since
they may belong to other organizations; they only do not see this one. Superusers see every organization.
"""

from enum import StrEnum

from django.db.models import QuerySet
from django.http import HttpRequest

from docsite.core.tenants.models import Membership, Organization

_SESSION_KEY = "log_in_method"


class Method(StrEnum):
    """How a user has logged in."""

    PASSWORD = "password"
    SECOND_FACTOR = "password and code"
    SINGLE_SIGN_ON = "single sign-on"


def get_method(request: HttpRequest) -> Method:
    """How the user of the request has logged in. Password, if the session does not say."""
    return Method(request.session.get(_SESSION_KEY, Method.PASSWORD))


def set_method(request: HttpRequest, method: Method) -> None:
    """Store how the user of the request has logged in."""
    request.session[_SESSION_KEY] = method.value


def find_memberships(request: HttpRequest) -> "QuerySet[Membership]":
    """The memberships of the user that count in this session.

    A role by groups counts only after single sign-on, where the provider has just confirmed the groups.
    """
    own = Membership.objects.filter(user=request.user.pk)
    method = get_method(request)
    if method == Method.SINGLE_SIGN_ON:
        return own
    own = own.filter(is_from_groups=False, organization__requires_single_sign_on=False)
    return own if method == Method.SECOND_FACTOR else own.filter(organization__requires_second_factor=False)


def list_inaccessible(request: HttpRequest) -> list[Organization]:
    """The organizations of the user that this session does not open, by name."""
    if request.user.is_superuser:
        return []
    own = Organization.objects.filter(memberships__user=request.user.pk)
    return list(own.exclude(pk__in=find_memberships(request).values("organization")))
