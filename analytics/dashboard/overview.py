"""The home of a project in the admin."""

from django.http import HttpRequest, HttpResponse

from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation


def show_overview(request: HttpRequest, project: Project) -> HttpResponse:
    """The home of a project: what its readers did, and the pages that say more."""
    return navigation.render(request, "admin/workspace/overview.html", project, project.name, {})
