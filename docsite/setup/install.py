"""The last steps of the wizard: the pages are read, and the tag is installed. They stay in the project's navigation."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils import timezone

from analytics.models import PageView
from assistant.models import Thread
from docsite.core.base_path import service_url
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.keys import find_public_token
from docsite.setup.views import STEPS
from search.admin.sources import describe_state
from search.models import Document, SearchQuery


@dataclass(frozen=True)
class Arrival:
    """Something that the tag sends: what it is called, and when it came first; None if it has not come yet."""

    label: str
    at: datetime | None
    hint: str


def list_arrivals(project: Project) -> list[Arrival]:
    """The first question, search and view of a reader. Samples do not count."""
    conversations = Thread.objects.filter(project=project, sample=False)  # each begins with a question
    searches = SearchQuery.objects.filter(project=project, sample=False)
    view = PageView.objects.filter(project=project, sample=False).order_by("at").first()
    return [
        Arrival(
            "question", conversations.order_by("pk").values_list("created_at", flat=True).first(), "Ask the assistant."
        ),
        Arrival("search", searches.order_by("at").values_list("at", flat=True).first(), "Search on such a page."),
        Arrival("view", view.seen_at if view else None, "Open a page with the second tag."),
    ]


def show_tag(request: HttpRequest, project: Project) -> HttpResponse:
    """The tags of the project, and whether something has arrived through them."""
    base_url = service_url(request)
    context = {
        **_arrivals_context(project),
        "steps": STEPS,
        "number": 4,
        "key": find_public_token(project, timezone.now()),
        "base_url": base_url,
        "origins": sorted(project.origins),
        "pages": Document.indexed.filter(project=project).count(),
    }
    return navigation.render(request, "admin/setup/tag.html", project, "Install", context)


def tag_state(request: HttpRequest, project: Project) -> HttpResponse:
    """As JSON: `isActive` until a question, a search and a view have arrived, the `state` in words, and the `html`."""
    context = _arrivals_context(project)
    html = render_to_string("admin/setup/_arrivals.html", context, request)
    return JsonResponse({"isActive": context["is_waiting"], "state": context["line"], "html": html})


def show_pages(request: HttpRequest, project: Project) -> HttpResponse:
    """The progress of the first reading."""
    source = project.sources.order_by("pk").first()
    state = describe_state(source) if source else {}
    context = {"steps": STEPS, "number": 3, **state}
    return navigation.render(request, "admin/setup/pages.html", project, "Read the pages", context)


def _arrivals_context(project: Project) -> dict[str, Any]:
    arrivals = list_arrivals(project)
    received = [arrival.label for arrival in arrivals if arrival.at]
    line = f"Received: {', '.join(received)}." if received else "Waiting for the first question, search and view."
    return {"arrivals": arrivals, "is_waiting": len(received) < len(arrivals), "line": line}
