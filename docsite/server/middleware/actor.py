"""Tells the audit who is logged in, and from where, and lets the admin see every page of the documentation."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.decorators import async_only_middleware

from docsite.core import context
from docsite.core.access.readers import PUBLIC, read_as
from docsite.core.http.client_address import client_ip, network_of


@async_only_middleware
def set_actor(get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> Callable[..., Any]:
    """Set the user of the session as the actor of the request, and which pages the request may see.

    The user is loaded only when an entry is added. The addresses of the admin check who calls them; all others see
    what a reader without a token sees.
    """

    async def respond(request: HttpRequest) -> HttpResponseBase:
        context.set_actor(lambda: request.user.get_username())
        context.set_network(lambda: network_of(client_ip(request)))
        is_admin = request.path_info.startswith("/admin/")
        with read_as(None if is_admin else PUBLIC), timezone.override(None):  # a page of a project activates its zone
            return await get_response(request)

    return respond
