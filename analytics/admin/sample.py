"""The notice that a project shows samples, and the page that removes them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html

from analytics import sample_rows
from docsite.core.tenants.models import Project, Role
from docsite.core.tenants.roles import has_role
from docsite.core.tenants.staff import project_of
from docsite.core.workspace import extensions, navigation


def find_notice(request: HttpRequest, project: Project) -> str:
    """The notice, if the project has a sample. Owners can remove it."""
    if not sample_rows.has_sample(project):
        return ""
    notice = "Sample: the demo invented conversations, searches, feedback and views."
    if not has_role(request, project.organization_id, Role.OWNER):
        return notice
    return format_html('{} <a href="{}">Remove them</a>', notice, reverse("admin:sample", args=[project.domain]))


def show_sample(request: HttpRequest, domain: str) -> HttpResponse:
    """Show how many sample rows the project has. A POST removes them."""
    project = project_of(request, domain)
    if request.method == "POST":
        removed = sample_rows.remove(project)
        numbers = ", ".join(f"{number:,} {name}" for name, number in removed._asdict().items() if number)
        messages.success(request, f"Removed: {numbers}." if numbers else "There was no sample.")
        return HttpResponseRedirect(navigation.page_url(navigation.HOME, project))
    context = {"counts": sample_rows.count(project)}
    return navigation.render(request, "admin/reports/sample.html", project, f"Sample of {project.name}", context)


extensions.add_notice(find_notice)
navigation.add_address("project/<str:domain>/sample", show_sample, "sample")
