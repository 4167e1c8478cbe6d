"""The admin page of one support request: the reader's message, its deliveries, its state and its assignee."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404

from assistant.admin.support_requests import list_page
from assistant.conversations import transcript
from assistant.models import SupportRequest
from docsite.core.delivery import mail, outbox
from docsite.core.delivery.models import Delivery
from docsite.core.tenants.models import Project
from docsite.core.tenants.staff import find_assignees
from docsite.core.workspace import navigation

NOBODY = "nobody"  # as assignee


def show_detail(request: HttpRequest, project: Project, request_id: str) -> HttpResponseBase:
    """Show a request. A POST changes its state or its assignee, or repeats one of its deliveries."""
    rows = SupportRequest.objects.select_related("thread", "assignee")
    row = get_object_or_404(rows, project=project, request_id=request_id)
    if request.method == "POST":
        if "repeat" in request.POST:
            deliveries = Delivery.objects.filter(project=project, subject=row.request_id)
            outbox.repeat(get_object_or_404(deliveries, delivery_id=request.POST["repeat"]))
            messages.success(request, "It is sent again. Load this page in a moment to see what became of it.")
        else:
            _save(request, row)
        return HttpResponseRedirect(request.path)
    people = [(str(assignee.pk), assignee.get_username()) for assignee in find_assignees(project)]
    context: dict[str, Any] = {
        "row": row,
        "turns": [
            {"who": "Reader", "text": turn["text"]}
            if turn["role"] == "user"
            else {"who": "Assistant", "html": transcript.render(turn["text"])}
            for turn in row.transcript
        ],
        "page_url": project.url_of(row.page_path) if row.page_path else "",
        "conversation": row.thread and navigation.page_url("conversations", project, row.thread.thread_id, name="read"),
        "deliveries": outbox.list_deliveries(project, row.request_id),
        "has_mail_server": mail.is_configured(),
        "states": SupportRequest.State.choices,
        "assignees": [(NOBODY, "Nobody"), *people],
        "assigned": str(row.assignee_id) if row.assignee_id else NOBODY,
        "all_requests": navigation.page_url(list_page.KEY, project),
        "erase_url": navigation.find_url("erase", project, request),
    }
    title = "Support request"
    return navigation.render(request, "admin/assistant/support_requests/detail.html", project, title, context)


def _save(request: HttpRequest, row: SupportRequest) -> None:
    state, assignee = request.POST.get("state", ""), request.POST.get("assignee", "")
    people = {str(person.pk): person for person in find_assignees(row.project)}
    if state not in SupportRequest.State.values or assignee not in (NOBODY, str(row.assignee_id), *people):
        messages.error(request, "Choose a state, and a staff user of the organization.")
        return
    row.state = SupportRequest.State(state)
    if assignee != str(row.assignee_id):
        row.assignee = people.get(assignee)  # type: ignore[assignment]  # of the user model
    row.save(update_fields=["state", "assignee"])
    messages.success(request, "Saved.")
