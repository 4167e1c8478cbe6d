"""The first steps of the wizard: look at a site, correct what was detected, create the project."""

from dataclasses import replace
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from docsite.core.tenants.models import Project, Role
from docsite.core.tenants.staff import is_staff, organizations_of, projects_of
from docsite.core.tenants.validators import origin_of
from docsite.core.workspace import navigation
from docsite.setup import drafts
from docsite.setup.drafts import Draft
from docsite.setup.forms import CorrectionForm, LocationForm, NewProjectForm
from search.stored_sources import runs

STEPS = ("Find the pages", "Name the project", "Read the pages", "Install the tag")


def start(request: HttpRequest) -> HttpResponse:
    """Ask for the address of the documentation, and look at it."""
    _check_user(request)
    form = LocationForm(request.POST or None, is_superuser=request.user.is_superuser)
    if request.method == "POST" and form.is_valid():
        try:
            draft = Draft(form.cleaned_data["location"]).look()
        except (ValueError, OSError) as wrong:
            form.add_error("location", runs.as_sentence(wrong))
        else:
            return HttpResponseRedirect(reverse("admin:new_project_check", args=[drafts.save(request, draft)]))
    has_organization = request.user.is_superuser or organizations_of(request, Role.OWNER).exists()
    context = {"form": form, "open": drafts.list_open(request), "has_organization": has_organization}
    return _render(request, "start", 1, "Add a project", context)


def check(request: HttpRequest, token: str) -> HttpResponse:
    """Show what was detected. Corrections are checked, too; what is unchanged leads to the next step."""
    _check_user(request)
    draft = drafts.load(request, token)
    form = CorrectionForm(draft, request.POST or None)
    if request.method == "POST" and form.is_valid():
        if not form.has_changed() and "again" not in request.POST:
            return HttpResponseRedirect(reverse("admin:new_project_name", args=[token]))
        try:
            drafts.save(request, replace(draft, **form.cleaned_data).look(), token)
            return HttpResponseRedirect(request.path)
        except (ValueError, OSError) as wrong:
            form.add_error("generator" if "generator" in form.changed_data else None, runs.as_sentence(wrong))
    found = draft.found
    opened = [sample for sample in found["samples"] if sample["exists"] is not None]
    context = {
        "form": form,
        "draft": draft,
        "found": found,
        "opened": len(opened),
        "missing": sum(not sample["exists"] for sample in opened),
    }
    return _render(request, "check", 1, "What was found", context)


def name(request: HttpRequest, token: str) -> HttpResponse:
    """Name the project, and create it. Its pages wait to be read then."""
    _check_user(request)
    draft = drafts.load(request, token)
    if draft.domain and (project := projects_of(request).filter(domain=draft.domain).first()):
        return HttpResponseRedirect(navigation.page_url("install", project, name="pages"))
    if not draft.docs_url:
        return HttpResponseRedirect(reverse("admin:new_project_check", args=[token]))
    form = NewProjectForm(request, draft, request.POST or None)
    if request.method == "POST" and form.is_valid():
        project = form.create()
        drafts.save(request, replace(draft, domain=project.domain), token)
        return HttpResponseRedirect(navigation.page_url("install", project, name="pages"))
    context = {"form": form, "draft": draft, "token": token, "origin": origin_of(draft.docs_url)}
    return _render(request, "name", 2, "Name the project", context)


def _check_user(request: HttpRequest) -> None:
    """Whoever may add a project in the admin may use the wizard. Its first page tells others what they need."""
    if request.method == "GET" and is_staff(request) and not organizations_of(request).exists():
        return
    if not admin.site.get_model_admin(Project).has_add_permission(request):
        raise PermissionDenied


def _render(request: HttpRequest, step: str, number: int, title: str, context: dict[str, Any]) -> HttpResponse:
    frame = {**admin.site.each_context(request), "title": title, "steps": STEPS, "number": number}
    return TemplateResponse(request, f"admin/setup/{step}.html", {**frame, **context})
