"""How a session was opened, and which organizations this session may open.

An organization may require single sign-on, or a second factor. Its members may log in by password all the same, since
they may belong to other organizations; they only do not see this one. Superusers see every organization.
"""

from enum import StrEnum

from django.db.models import Q
from django.http import HttpRequest

from docsite.core.tenants.models import Organization

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


def opened_by(request: HttpRequest, prefix: str = "") -> Q:
    """The condition on organizations that this session opens. `prefix` is the look-up to them: `organization__`."""
    method = get_method(request)
    refused = {
        Method.PASSWORD: ("requires_single_sign_on", "requires_second_factor"),
        Method.SECOND_FACTOR: ("requires_single_sign_on",),
        Method.SINGLE_SIGN_ON: (),
    }[method]
    return Q(**{f"{prefix}{field}": False for field in refused})


def list_closed(request: HttpRequest) -> list[Organization]:
    """The organizations of the user that this session does not open, by name."""
    if request.user.is_superuser or get_method(request) == Method.SINGLE_SIGN_ON:
        return []
    return list(Organization.objects.filter(memberships__user=request.user.pk).exclude(opened_by(request)))
