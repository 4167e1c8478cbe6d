"""The pages: the field, the progress, the site that was read, and what becomes of it."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timeuntil
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assistant.models import AssistantSettings
from assistant.widget import starters
from docsite.core.base_path import service_url
from docsite.core.http import ratelimit
from docsite.core.http.errors import ApiError, Forbidden, TooMany
from docsite.core.http.ratelimit import Limit
from docsite.core.tenants.models import Project, Role
from docsite.core.tenants.roles import has_role
from docsite.core.workspace import navigation
from docsite.core.workspace.keys import find_public_token
from docsite.extras.try_docs import trials
from docsite.extras.try_docs.models import Trial
from docsite.extras.try_docs.visitors import find_organizations
from docsite.setup.forms import LocationForm
from docsite.site import forms
from search.models import Document, Section, Source

TRIALS_ORG = Limit("try-docs", "10/h", "Sites read for a trial", fail_open=True, by_organization=True)
MAX_FORM = 10_000  # bytes
NOT_ALLOWED = "Only whoever sits at the machine of a demo, or a signed-in owner, can have a site read."
NOTHING_READ = "No page with text was found there"


def render_field(request: HttpRequest) -> SafeString:
    """The field on the first page, for those who may use it."""
    if not find_organizations(request).exists():
        return mark_safe("")
    return mark_safe(render_to_string("try_docs/_field.html"))


@csrf_exempt  # the origin is checked instead, as for all forms of the site
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HttpRequest) -> HttpResponse:
    """Show the field and the trials that are stored. A POST begins to read a site."""
    organizations = find_organizations(request)
    location, refusal = "", None
    try:
        if not organizations.exists():
            raise Forbidden(NOT_ALLOWED)
        if request.method == "POST":
            location = forms.parse_form(request, MAX_FORM).get("location", "").strip()
            return HttpResponseRedirect(reverse("pages:try_docs_show", args=[_create(request, location).domain]))
    except ApiError as error:
        refusal = error
    context = {
        "location": location[:1000],
        "refusal": refusal.sentence if refusal else "",
        "is_allowed": organizations.exists(),
        "trials": Trial.objects.filter(project__organization__in=organizations).select_related("project"),
    }
    response = render(request, "try_docs/start.html", context, status=refusal.status if refusal else 200)
    return forms.finish_response(response, refusal)


def _create(request: HttpRequest, location: str) -> Project:
    """Begin to read a site. Raises `ApiError`."""
    # Whoever sits at the machine of a demo can read its network anyway, and no other site can send this form.
    is_operator = request.user.is_superuser or not request.user.is_authenticated
    form = LocationForm({"location": location}, is_superuser=is_operator and "://" in location)
    if not form.is_valid():
        raise ApiError(400, str(next(iter(form.errors.values()))[0]))
    address = str(form.cleaned_data["location"])
    if not address.startswith(("https://", "http://")):
        raise ApiError(400, "Write an address that begins with https://.")
    organizations = find_organizations(request)
    organization = organizations.filter(projects__domain=settings.ENV.site_domain).first() or organizations[0]
    try:
        trials.make_room(organization)
        ratelimit.spend((TRIALS_ORG, str(organization.pk)))
        return trials.create(organization, address)
    except TooMany as error:
        error.sentence = f"{TRIALS_ORG.window()[0]} sites an hour can be read. Try again later."
        raise
    except ValueError as wrong:
        raise ApiError(409, str(wrong)) from None


@require_safe
def show(request: HttpRequest, domain: str) -> HttpResponse:
    """The progress while the site is read; then its search, its assistant, and what to do next."""
    project = _find(request, domain)
    state = _describe(project)
    context: dict[str, Any] = {"project": project, **state, "trial": Trial.objects.get(project=project)}
    if state["is_done"]:
        context |= {
            "base_url": service_url(request),
            "key": find_public_token(project, timezone.now()),
            "starters": AssistantSettings.for_project(project).starter_questions or starters.propose(project),
        }
    response = render(request, "try_docs/show.html", context)
    response["Cache-Control"] = "no-store"
    return response


@require_safe
def state(request: HttpRequest, domain: str) -> HttpResponse:
    """As JSON: `isActive` while the site is read, and how far that is, in words."""
    found = _describe(_find(request, domain))
    response = JsonResponse({"isActive": found["is_active"], "line": found["line"]})
    response["Cache-Control"] = "no-store"
    return response


@csrf_exempt  # as `start`
@require_POST
def end(request: HttpRequest, domain: str) -> HttpResponse:
    """Keep the project, or delete it."""
    project = _find(request, domain)
    try:
        form = forms.parse_form(request, MAX_FORM)
    except ApiError as refusal:
        return HttpResponse(refusal.sentence, status=refusal.status, content_type="text/plain; charset=utf-8")
    if form.get("action") == "keep":
        trials.keep(project)
        return HttpResponseRedirect(navigation.page_url("install", project))
    project.delete()
    return HttpResponseRedirect(reverse("pages:try_docs"))


def find_notice(request: HttpRequest, project: Project) -> str:
    """Say above every page of a trial's project in the admin when it is deleted. Owners can keep it."""
    trial = Trial.objects.filter(project=project).first()
    if trial is None:
        return ""
    notice = f"Trial: this project is deleted in {timeuntil(trial.deleted_at)}."
    if not has_role(request, project.organization_id, Role.OWNER):
        return notice
    return format_html('{} <a href="{}">Keep it</a>', notice, reverse("pages:try_docs_show", args=[project.domain]))


def _find(request: HttpRequest, domain: str) -> Project:
    """The project of a trial that the visitor may see. Raises 404."""
    project = trials.find(domain, list(find_organizations(request).values_list("pk", flat=True)))
    if project is None:
        raise Http404
    return project


def _describe(project: Project) -> dict[str, Any]:
    """How far the reading is: `is_active`, `is_done`, and the sentence `line`."""
    source = project.sources.order_by("pk").first()
    if source is None:
        return {"is_active": False, "is_done": False, "line": "Its source was deleted."}
    is_active = source.state == Source.State.RUNNING and source.is_held
    pages = Document.indexed.filter(project=project).count()
    if is_active:
        return {"is_active": True, "is_done": False, "line": source.progress or "Looking at the site"}
    if not pages:
        return {"is_active": False, "is_done": False, "line": explain(source)}
    sections = Section.objects.filter(document__project=project).count()
    line = f"{pages:,} pages with {sections:,} sections"
    if source.started_at and source.finished_at:
        line += f", read in {(source.finished_at - source.started_at).total_seconds():.0f} seconds"
    line += "."
    return {"is_active": False, "is_done": True, "line": line}


def explain(source: Source) -> str:
    """Why no page was read, in sentences."""
    if not source.error:
        return "The process that read it stopped responding."
    if not source.outcome:  # the site itself could not be read
        return source.error
    reasons = [f"{skipped['file']} {skipped['reason']}" for skipped in source.outcome.get("skipped", [])[:1]]
    if reasons:
        return f"{NOTHING_READ}: {reasons[0]}."
    return f"{NOTHING_READ}. A page that a script builds in the browser has none for others, and only HTML is read."
