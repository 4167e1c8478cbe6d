"""The page of one piece of feedback: what the reader wrote and about what, notes, status and assignee."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404

from analytics.feedback import triage
from analytics.feedback.triage import NOBODY
from analytics.models import Feedback, FeedbackNote
from assistant.conversations import transcript
from assistant.models import Message
from docsite.core.tenants.models import Project
from docsite.core.tenants.staff import find_assignees
from docsite.core.workspace import navigation
from docsite.core.workspace.reports.formatting import visible
from search.models import Document

MAX_TURNS = 40  # of the conversation
MAX_NOTES = 200
MAX_NOTE_LENGTH = 4000


def show_detail(request: HttpRequest, project: Project, feedback_id: str) -> HttpResponseBase:
    """The page. A POST deletes the feedback, or stores a note, or another status or assignee."""
    rows = Feedback.objects.select_related("message__thread", "assignee")
    row = get_object_or_404(rows, project=project, feedback_id=feedback_id)
    if "delete" in request.POST:
        row.delete()
        messages.success(request, "Deleted.")
        return HttpResponseRedirect(navigation.page_url("feedback", project))
    if request.method == "POST":
        _save(request, project, row)
        return HttpResponseRedirect(navigation.page_url("feedback", project, feedback_id, name="detail"))
    document = Document.objects.filter(project=project, path=row.path).only("title").first()
    context: dict[str, Any] = {
        "row": row,
        "path": visible(row.path),
        "page_title": visible(document.title) if document else "",
        "turns": _list_turns(row),
        "conversation": row.message
        and navigation.page_url("conversations", project, row.message.thread.thread_id, name="read"),
        "notes": list(row.notes.select_related("author")[:MAX_NOTES]),
        "is_full": row.notes.count() >= MAX_NOTES,
        "max_note_length": MAX_NOTE_LENGTH,
        "statuses": Feedback.Status.choices,
        "assignees": [(NOBODY, "Nobody"), *((str(one.pk), one.get_username()) for one in find_assignees(project))],
        "assigned": str(row.assignee_id) if row.assignee_id else NOBODY,
        "all_feedback": navigation.page_url("feedback", project),
    }
    return navigation.render(request, "admin/feedback/detail.html", project, "Feedback", context)


def _save(request: HttpRequest, project: Project, row: Feedback) -> None:
    note = request.POST.get("note", "").replace("\0", "").strip()[:MAX_NOTE_LENGTH]
    status, assignee = request.POST.get("status") or None, request.POST.get("assignee") or None
    try:
        if status or assignee:
            triage.change(project, [row.feedback_id], status=status, assignee=assignee)
    except ValueError as error:
        messages.error(request, str(error))
        return
    if note and row.notes.count() >= MAX_NOTES:
        messages.error(request, f"At most {MAX_NOTES} notes are possible.")
    elif note:
        FeedbackNote.objects.create(feedback=row, author_id=request.user.pk, text=note)
    messages.success(request, "Saved.")


def _list_turns(row: Feedback) -> list[dict[str, Any]]:
    """The conversation up to the answer that the feedback is about, oldest first."""
    if not row.message:
        return []
    turns = Message.objects.filter(thread=row.message.thread_id, pk__lte=row.message.pk).order_by("-pk")
    chosen = turns.only("role", "content", "created_at")[:MAX_TURNS]
    return [
        {
            "who": "Reader" if turn.role == Message.Role.USER else "Assistant",
            "text": turn.content,
            "html": transcript.render(turn.content) if turn.role == Message.Role.ASSISTANT else "",
            "at": turn.created_at,
            "is_rated": turn.pk == row.message.pk,
        }
        for turn in reversed(chosen)
    ]
