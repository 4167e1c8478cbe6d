"""The notice that a project shows samples, and the page that removes them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html

from analytics.sample import removal
from docsite.core.tenants.models import Project
from docsite.core.tenants.staff import project_of
from docsite.core.workspace import extensions, navigation


def find_notice(project: Project) -> str:
    """The notice, if the project has a sample."""
    if not removal.has_sample(project):
        return ""
    page = reverse("admin:sample", args=[project.domain])
    return format_html(
        'Sample: the demo invented conversations, searches, feedback and views. <a href="{}">Remove them</a>', page
    )


def show_sample(request: HttpRequest, domain: str) -> HttpResponse:
    """Show how many sample rows the project has. A POST removes them."""
    project = project_of(request, domain)
    if request.method == "POST":
        removed = removal.remove(project)
        numbers = ", ".join(f"{number:,} {name}" for name, number in removed._asdict().items() if number)
        messages.success(request, f"Removed: {numbers}." if numbers else "There was no sample.")
        return HttpResponseRedirect(navigation.page_url(navigation.HOME, project))
    context = {"counts": removal.count(project)}
    return navigation.render(request, "admin/reports/sample.html", project, f"Sample of {project.name}", context)


extensions.add_notice(find_notice)
navigation.add_address("project/<slug:domain>/sample", show_sample, "sample")
