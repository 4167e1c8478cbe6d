"""The list of support requests, with what happened in the forms."""

from datetime import timedelta
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone

from assistant.models import SupportRequest, SupportSettings
from assistant.support_requests import store
from docsite.core.delivery import mail
from docsite.core.delivery.models import Delivery
from docsite.core.tenants.models import Project, Role
from docsite.core.tenants.roles import has_role
from docsite.core.workspace import navigation
from docsite.core.workspace.reports.links import Choice

KEY = "support"
ALL = "all"
PAGE_SIZE = 50
DAYS = 30  # of the numbers


def show_list(request: HttpRequest, project: Project) -> HttpResponse:
    """The list, latest first. Its address holds the state, the words and the page."""
    state = request.GET.get("state", SupportRequest.State.OPEN)
    state = state if state in (*SupportRequest.State.values, ALL) else SupportRequest.State.OPEN
    words = request.GET.get("q", "").strip()[:400]
    rows = project.support_requests.select_related("assignee")
    if words:
        rows = rows.filter(Q(subject__icontains=words) | Q(message__icontains=words) | Q(email__icontains=words))
    numbers = dict(rows.order_by().values_list("state").annotate(Count("pk")))
    if state != ALL:
        rows = rows.filter(state=state)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    settings = SupportSettings.for_project(project)
    is_owner = has_role(request, project.organization_id, Role.OWNER)
    context: dict[str, Any] = {
        "settings": settings,
        "settings_url": is_owner and navigation.page_url(KEY, project, name="settings"),
        "has_mail_server": mail.is_configured(),
        "words": words,
        "state": state,
        "states": [
            Choice(f"{label} {numbers.get(value, 0):,}", _link(value, words), value == state)
            for value, label in SupportRequest.State.choices
        ]
        + [Choice(f"All {sum(numbers.values()):,}", _link(ALL, words), state == ALL)],
        "page": page,
        "rows": _build_rows(project, list(page)),
        "previous": _link(state, words, page.previous_page_number()) if page.has_previous() else "",
        "next": _link(state, words, page.next_page_number()) if page.has_next() else "",
        "forms": store.sum_forms(project, timezone.now().date() - timedelta(days=DAYS - 1)),
        "days": DAYS,
    }
    context["rate"] = _share(context["forms"]["solved"], context["forms"]["shown"])
    return navigation.render(
        request, "admin/assistant/support_requests/list.html", project, "Support requests", context
    )


def _build_rows(project: Project, requests: list[SupportRequest]) -> list[tuple[SupportRequest, str, str]]:
    """Each request with its address and the state of its deliveries in words."""
    states: dict[str, set[str]] = {}
    subjects = [request.request_id for request in requests]
    for subject, state in Delivery.objects.filter(project=project, subject__in=subjects).values_list(
        "subject", "state"
    ):
        states.setdefault(subject, set()).add(state)
    return [
        (one, navigation.page_url(KEY, project, one.request_id, name="detail"), _describe(states.get(one.request_id)))
        for one in requests
    ]


def _describe(states: set[str] | None) -> str:
    """The state of the deliveries of a request: the worst of them."""
    order = (Delivery.State.FAILED, Delivery.State.WAITING, Delivery.State.DELIVERED)
    return next((state.label for state in order if states and state in states), "–")


def _link(state: str, words: str, page: int = 1) -> str:
    query = QueryDict(mutable=True)
    query.update({"state": state, **({"q": words} if words else {}), **({"page": str(page)} if page > 1 else {})})
    return f"?{query.urlencode()}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else ""
