"""The page "Limits and health"."""

from django.http import HttpRequest, HttpResponse

from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.health.sections import load_sections


def show_page(request: HttpRequest, project: Project) -> HttpResponse:
    """All facts as they are now."""
    context = {"sections": load_sections(project)}
    return navigation.render(request, "admin/workspace/limits.html", project, "Limits and health", context)
