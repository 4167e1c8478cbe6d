"""The pages of a project in the admin: their registry, their addresses, and the frame that each is rendered in.

An app registers its pages in its `admin` module. A page either has views of its own, which get the
project, or it is an existing page of the admin that only needs a place in the navigation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from docsite.core.tenants.models import Project, Role
from docsite.core.tenants.roles import add_rule, find_role, has_role
from docsite.core.tenants.staff import project_of

View = Callable[..., HttpResponseBase]
HOME = "overview"  # the key of the page that opens first


@dataclass(frozen=True)
class Page:
    """A page of every project, with its place in the navigation. Pages of a group stand together, by position.

    `is_report`: its address takes the range and the page (`path`) of another report.
    """

    key: str
    label: str
    group: str
    position: int
    url: Callable[[Project], str]
    reads: Role
    is_report: bool = False


_pages: dict[str, Page] = {}
_patterns: list[URLPattern] = []


def add_page(
    key: str,
    label: str,
    *,
    group: str,
    position: int,
    url: Callable[[Project], str] | None = None,
    views: Sequence[tuple[str, View, str]] = (),
    names: Sequence[str] = (),
    reads: Role = Role.OWNER,
    acts: Role = Role.OWNER,
    is_report: bool = False,
) -> None:
    """Add a page to the navigation of every project. `is_report` is as in `Page`.

    `url` is the address of a page that exists. A page without it has `views`: a route, a view and a name for each of
    its addresses. The route and the name of the first are empty. Routes are below `project/<domain>/<key>/`. A view
    is called with the request, the project and the arguments of its route, for staff of the project's organization
    only. The view named `group` of the page `gaps` is reversed as `admin:workspace_gaps_group`.

    `reads` is the least role that opens the addresses of the page, `acts` the least role that sends their forms. They
    hold for `names`, too: the other addresses of the admin that belong to the page.
    """
    for route, view, name in views:
        add_page_address(key, route, view, name, reads=reads, acts=acts)
    for name in names:
        add_rule(name, reads=reads, acts=acts)
    _pages[key] = Page(key, label, group, position, url or (lambda project: page_url(key, project)), reads, is_report)


def add_page_address(
    key: str, route: str, view: View, name: str, *, reads: Role = Role.OWNER, acts: Role = Role.OWNER
) -> None:
    """Add an address to a page, with roles of its own. The other arguments are as in `add_page`."""
    base = "project/<str:domain>" if key == HOME else f"project/<str:domain>/{key}"
    address = f"{base}/{route}" if route else base
    full_name = f"workspace_{key}_{name}" if name else f"workspace_{key}"
    _patterns.append(path(address, admin.site.admin_view(_with_project(view)), name=full_name))
    add_rule(full_name, reads=reads, acts=acts)


def add_address(route: str, view: View, name: str) -> None:
    """Add an address of the admin that is not in the navigation of projects. It is reversed as `admin:<name>`."""
    _patterns.append(path(route, admin.site.admin_view(view), name=name))


def page_url(key: str, project: Project, *arguments: Any, name: str = "") -> str:
    """The address of a registered view of a page."""
    full_name = f"admin:workspace_{key}_{name}" if name else f"admin:workspace_{key}"
    return reverse(full_name, args=[project.domain, *arguments])


def find_url(key: str, project: Project, request: HttpRequest | None = None) -> str:
    """The address of a page of another app. Empty if no app has registered it, or the user may not open it."""
    page = _pages.get(key)
    if page is None or (request and not has_role(request, project.organization_id, page.reads)):
        return ""
    return page.url(project)


def find_urls(request: HttpRequest, project: Project) -> dict[str, str]:
    """The addresses of a project's pages that the user may open, by their keys."""
    role = find_role(request, project.organization_id)
    return {page.key: page.url(project) for page in all_pages() if role and role.rank >= page.reads.rank}


def list_url(model: str) -> Callable[[Project], str]:
    """Build the addresses of a model's list, for the rows of one project. `model`: such as `search_source`."""
    return lambda project: reverse(f"admin:{model}_changelist", query={"project": project.domain})


def all_pages() -> list[Page]:
    """The registered pages in the order of the navigation."""
    return sorted(_pages.values(), key=lambda page: page.position)


def urls() -> list[URLPattern]:
    """The addresses of the registered views, below the address of the admin."""
    return list(_patterns)


def render(
    request: HttpRequest, template: str, project: Project, title: str, context: dict[str, Any], *, wrong: object = None
) -> TemplateResponse:
    """Render a page in the frame of the project's workspace. The template extends `admin/workspace/page.html`.

    The status is 400 if something is `wrong`. No cache stores it: `admin_view` says so of every page of the admin.
    """
    frame = {**admin.site.each_context(request), "title": title, "project": project}
    return TemplateResponse(request, template, {**frame, **context}, status=400 if wrong else 200)


def _with_project(view: View) -> View:
    """Look up the project of the address, if the user may see it."""

    @wraps(view)
    def find_project(request: HttpRequest, domain: str, **arguments: Any) -> HttpResponseBase:
        return view(request, project_of(request, domain), **arguments)

    return find_project
