"""The checks before every endpoint, in one fixed order.

Key (401); kind, address, scope and origin (403); tenant (404); limits (429);
body (400, 413, 415). A check is given to Ninja as `auth=`; its return value
becomes `request.auth`.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, cast

from django.http import HttpRequest
from ninja.security.base import AuthBase
from pydantic import BaseModel

from docsite.core import context
from docsite.core.access import authentication
from docsite.core.access.authentication import Caller
from docsite.core.access.reader_tokens import READER_TOKEN_HEADER, find_groups
from docsite.core.access.readers import set_reader_groups
from docsite.core.db import in_db
from docsite.core.http import body, cpu_time, ratelimit
from docsite.core.http.client_address import Address, client_ip, network_of
from docsite.core.http.errors import Forbidden, NotFound
from docsite.core.http.ratelimit import Limit, LimitCharge
from docsite.core.tenants.models import Project

# One limit for what is sent without a key and without a limit of its own: views, clicks, requests of the widget for
# its configuration, and requests of agents.
BROWSER_IP = Limit("collect-ip", "limit_collect_ip", fail_open=True)


class CheckedRequest(HttpRequest):
    """A request that passed a check: its body, and the limits it was counted against."""

    payload: BaseModel | None
    usages: list[ratelimit.Usage]


class CallerRequest(CheckedRequest):
    """A request with an API key."""

    auth: Caller


class BrowserRequest(CheckedRequest):
    """A request from a page, without a key."""

    auth: Project


def _path_argument(request: HttpRequest, name: str) -> str:
    assert request.resolver_match  # views run after resolving
    return str(request.resolver_match.kwargs[name])


async def _parse_large_body(request: HttpRequest, schema: type[BaseModel]) -> BaseModel:
    raw = request.body
    return await body.parse_large(lambda: body.parse(schema, raw))


class _KeyCheck(AuthBase):
    """The common part of the checks of both kinds of key."""

    openapi_type = "http"
    openapi_scheme = "bearer"
    argument: ClassVar[str]  # name of the path parameter that identifies the project

    def __init__(
        self,
        charges: Callable[[Caller], list[LimitCharge]],
        body: type[BaseModel] | None = None,
        *,
        counted: bool = True,
        allows_stale: bool = False,
        collects_views: bool = False,
    ) -> None:
        """`body` is the schema of the body of a POST. `allows_stale`: see `authentication.allow_stale`.

        `collects_views`: a collecting key is admitted to its project, beside admin keys.
        """
        super().__init__()
        self.is_async = True
        self.charges = charges
        self.body = body
        self.counted = counted
        self.allows_stale = allows_stale
        self.collects_views = collects_views

    @abstractmethod
    def caller(self, token: str, project: str, address: Address, *, write: bool) -> Caller:
        """The caller of a token on the project of that id or domain. Raises 401, 403 or 404."""

    async def __call__(self, request: HttpRequest) -> Caller:
        """Return the caller, with `request.payload` set for a POST, or raise an `ApiError`."""
        request = cast(CheckedRequest, request)
        project, address, token = (
            _path_argument(request, self.argument),
            client_ip(request),
            authentication.bearer_token(request),
        )
        is_write = request.method not in ("GET", "HEAD")
        network = network_of(address)

        def admit() -> Caller:
            caller = self.caller(token, project, address, write=is_write)
            if caller.groups is not None:
                caller = replace(caller, groups=find_groups(caller.project, request.headers.get(READER_TOKEN_HEADER)))
            if self.counted:
                cpu_time.charge(network)
            count = ratelimit.spend if self.counted else ratelimit.peek
            request.usages = count(*self.charges(caller))
            if self.body:
                request.payload = body.read_json(request, self.body)
            return caller

        cpu_time.measure(network)
        authentication.allow_stale(self.allows_stale)
        caller = await in_db(admit)()
        set_reader_groups(caller.groups)
        if self.body and request.payload is None:
            request.payload = await _parse_large_body(request, self.body)
        if self.counted and (seconds := ratelimit.compute_delay(request.usages)):
            await asyncio.sleep(seconds)
            context.extend_database_time(seconds)
        return caller


class AssistantKey(_KeyCheck):
    """Admits an assistant key to its own project."""

    openapi_description = "Public key of one project, `svc_dsc_…`; safe in a browser."
    argument = "domain"

    def caller(self, token: str, project: str, address: Address, *, write: bool) -> Caller:
        """The caller of an assistant key. `write` does not matter: the POSTs of readers change no setting."""
        return authentication.assistant_caller(token, project, address)


class AdminKey(_KeyCheck):
    """Admits an admin key to the projects of its organization. Only GET and HEAD do without the scope `write`."""

    openapi_description = "Secret key of an organization, `svc_…`; for servers only."
    argument = "projectId"

    def caller(self, token: str, project: str, address: Address, *, write: bool) -> Caller:
        """The caller of an admin key, or of a collecting key where views are collected."""
        if self.collects_views:
            return authentication.collecting_caller(token, project, address)
        return authentication.admin_caller(token, project, address, write=write)


class AnyOrigin:
    """Admits pages on every origin, without a key.

    `limit` counts the requests of a client address, `organization_limit` those of the project's organization.
    `allows_stale`: see `authentication.allow_stale`.
    """

    is_async = True

    def __init__(
        self, limit: Limit = BROWSER_IP, organization_limit: Limit | None = None, *, allows_stale: bool = False
    ) -> None:
        self.limit = limit
        self.organization_limit = organization_limit
        self.allows_stale = allows_stale

    async def __call__(self, request: CheckedRequest) -> Project:
        """Return the project, or raise an `ApiError`."""
        authentication.allow_stale(self.allows_stale)
        return await in_db(self._admit)(request, _path_argument(request, "domain"), client_ip(request))

    def _admit(self, request: CheckedRequest, domain: str, address: Address) -> Project:
        project = authentication.project_by_domain(domain)
        if project is None:
            raise NotFound("No such domain.")
        charges = [(self.limit, network_of(address))]
        if self.organization_limit:
            charges.append((self.organization_limit, str(project.organization_id)))
        request.usages = ratelimit.spend(*charges)
        return project


class AllowedOrigin(AnyOrigin):
    """Admits pages on the origins of a project, without a key. The middleware has already refused other origins.

    `body` is the schema of the body.
    """

    def __init__(
        self,
        body: type[BaseModel],
        limit: Limit = BROWSER_IP,
        organization_limit: Limit | None = None,
        *,
        allows_stale: bool = False,
    ) -> None:
        super().__init__(limit, organization_limit, allows_stale=allows_stale)
        self.body = body

    async def __call__(self, request: CheckedRequest) -> Project:
        """Return the project with `request.payload` set, or raise an `ApiError`."""
        if not request.headers.get("Origin"):
            raise Forbidden("This endpoint is for browsers: a request without Origin is refused.")
        project = await super().__call__(request)
        if request.payload is None:
            request.payload = await _parse_large_body(request, self.body)
        return project

    def _admit(self, request: CheckedRequest, domain: str, address: Address) -> Project:
        project = super()._admit(request, domain, address)
        request.payload = body.read_json(request, self.body, from_browser=True)
        return project
