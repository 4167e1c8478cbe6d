"""The page "Limits and health"."""

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.health.sections import load_sections

KEY = "limits"


def show_page(request: HttpRequest, project: Project) -> HttpResponse:
    """All facts as they are now. A script lets the socket update them."""
    context = {"facts": render_facts(project), "socket": f"{navigation.page_url(KEY, project)}/live"}
    return navigation.render(request, "admin/workspace/limits.html", project, "Limits and health", context)


def render_facts(project: Project) -> SafeString:
    """The sections as HTML."""
    return render_to_string("admin/workspace/_limits.html", {"sections": load_sections(project)})
