"""Who may call the server of a project, and what a call costs. It blocks: call it in a worker thread."""

from dataclasses import replace

from django.http import HttpRequest

from docsite.core.access import authentication
from docsite.core.access.authentication import Caller
from docsite.core.access.reader_tokens import READER_TOKEN_HEADER, find_groups
from docsite.core.access.request_checks import BROWSER_IP
from docsite.core.http import cpu_time, ratelimit
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.http.errors import NotFound
from docsite.core.http.ratelimit import Usage
from docsite.core.tenants.models import ApiKey, Project
from docsite.extras.mcp.models import McpSettings, get_access


def find_project(domain: str) -> Project:
    """The project of a domain, if it has a server. Raises 404, which does not reveal whether the project exists."""
    project = authentication.project_by_domain(domain)
    if project is None or get_access(project) == McpSettings.Access.OFF:
        raise NotFound("This domain has no MCP server.")
    return project


def admit(request: HttpRequest, domain: str) -> tuple[Caller, list[Usage]]:
    """The caller of a request, and the limits that it was counted against. Raises 401, 403, 404 or 429.

    Where the owner demands no key, the Authorization header is not read.
    """
    project, address = find_project(domain), client_ip(request)
    caller = Caller(None, project, address)
    if get_access(project) == McpSettings.Access.KEY:
        token = authentication.bearer_token(request)
        if token.startswith(ApiKey.PREFIX[ApiKey.Kind.ASSISTANT]):
            caller = authentication.assistant_caller(token, domain, address)
        else:
            caller = authentication.admin_caller(token, project.project_id, address, write=False)
    if caller.groups is not None:
        caller = replace(caller, groups=find_groups(project, request.headers.get(READER_TOKEN_HEADER)))
    network = network_of(address)
    cpu_time.charge(network)
    return caller, ratelimit.spend((BROWSER_IP, network))
