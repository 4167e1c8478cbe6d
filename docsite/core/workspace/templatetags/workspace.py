"""The navigation of the admin: the projects of the user, and the pages of the project that is shown."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django import template
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from docsite.core.base_path import base_path
from docsite.core.tenants.log_in_rules import list_inaccessible
from docsite.core.tenants.models import Project
from docsite.core.tenants.roles import has_role
from docsite.core.tenants.staff import is_staff, projects_of
from docsite.core.workspace import extensions, navigation
from docsite.core.workspace.reports.report_state import ReportState

register = template.Library()
register.simple_tag(list_inaccessible, name="closed_organizations")
register.simple_tag(extensions.notices, name="project_notices")
MAX_PROJECTS = 50


@dataclass(frozen=True)
class Entry:
    """A link of the navigation."""

    label: str
    url: str
    is_current: bool


@dataclass(frozen=True)
class Group:
    """Links of the navigation below a heading. The home is in a group without a name."""

    name: str
    entries: list[Entry]
    is_unfolded: bool


@register.simple_tag
def script_attributes(base_url: str, path: str) -> SafeString:
    """The attributes `src` and, with `CDN_ORIGIN`, `data-service` of a tag for a script of the service."""
    if cdn := settings.ENV.cdn_origin:
        service = f"{base_url}/" if base_path() else base_url  # with a path, the script goes on behind the slash
        return format_html('src="{}{}" data-service="{}"', cdn, path, service)
    return format_html('src="{}{}"', base_url, path)


@register.simple_tag
def my_projects(request: HttpRequest) -> list[tuple[Project, str]]:
    """Up to fifty projects that the user may see, by domain, each with the address of its home."""
    if not is_staff(request):
        return []
    return [(project, home_of(project)) for project in projects_of(request)[:MAX_PROJECTS]]


@register.simple_tag(takes_context=True)
def shown_project(context: dict[str, Any]) -> Project | None:
    """The project of a page of the admin: the page names it, or its object has it, or the filter of its list."""
    request = context["request"]
    if isinstance(getattr(request, "user", AnonymousUser()), AnonymousUser) or not is_staff(request):
        return None
    found = context.get("project") or context.get("original")
    found = getattr(found, "thread", found)
    found = getattr(found, "project", found)
    if isinstance(found, Project):
        return found
    domain = request.GET.get("project", "").replace("\0", "")
    return projects_of(request).filter(domain=domain).first() if domain else None


@register.simple_tag
def project_pages(request: HttpRequest, project: Project, state: Any = None) -> list[Group]:
    """The groups of the project's navigation with the entries that the user may open.

    The group of the page that is shown is unfolded; on a page of no group, such as the home, the first two are.
    `state`: that of the report that is shown, if it is one. Other reports keep its range and its page.
    """
    kept = state.keep_link(state.page_path) if isinstance(state, ReportState) else ""
    shown = [
        (page, page.url(project))
        for page in navigation.all_pages()
        if has_role(request, project.organization_id, page.reads)
    ]
    current = _current_page(request.path, shown)
    entries = [(page.group, Entry(page.label, url + kept * page.is_report, page is current)) for page, url in shown]
    groups = [(name, [entry for _, entry in same]) for name, same in groupby(entries, key=lambda pair: pair[0])]
    unfolded = [current.group] if current and current.group else [name for name, _ in groups if name][:2]
    return [Group(name, same, name in unfolded) for name, same in groups]


def _current_page(path: str, shown: list[tuple[navigation.Page, str]]) -> navigation.Page | None:
    """The page with the longest address that is the beginning of the path."""
    addresses = [(url.partition("?")[0], page) for page, url in shown]
    matching = [(len(address), page) for address, page in addresses if f"{path}/".startswith(address.rstrip("/") + "/")]
    return max(matching, key=lambda pair: pair[0])[1] if matching else None


@register.simple_tag(takes_context=True)
def about_page(context: dict[str, Any], path: str) -> str:
    """The address of the page about a page of the documentation, in the range of the report that is shown."""
    state = context.get("state")
    kept = state if isinstance(state, ReportState) else ReportState()
    return navigation.page_url("pages", context["project"]) + kept.keep_link(path)


@register.filter
def home_of(project: Project) -> str:
    """The address of a project's home."""
    return navigation.page_url(navigation.HOME, project)
