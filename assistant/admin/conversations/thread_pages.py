"""The page of one conversation, its exports, and redacting it."""

from dataclasses import replace

from django.contrib import messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from assistant.admin.conversations import exports
from assistant.admin.conversations.list_page import KEY, build_listing, build_thread_url
from assistant.admin.conversations.list_state import ListState
from assistant.admin.conversations.reader import load_turns
from assistant.conversations import ratings
from assistant.conversations.threads import MAX_TITLE
from assistant.models import Message, Thread
from docsite.core import redaction
from docsite.core.components.erasure import CONVERSATION, READER, SHARED_FP
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.reports.links import Choice

_ELSEWHERE = (("gaps", "Gaps"), ("golden", "Golden questions"))  # pages where the owner goes on from here
_FORMS = {  # of an export, by the ending of its file
    "jsonl": (exports.format_thread, "application/x-ndjson"),
    "md": (exports.format_markdown, "text/markdown; charset=utf-8"),
}


def show_thread(request: HttpRequest, project: Project, thread_id: str) -> HttpResponse:
    """One conversation, with links to those before and after it in the list."""
    thread, stored = _load(project, thread_id)
    state, _ = ListState.parse(request.GET)
    listing, _, _ = build_listing(project, state)
    newer, older = replace(listing, by_conversation=True).find_neighbours(thread.pk) if listing else (None, None)
    near = Thread.objects.in_bulk([entry.thread for entry in (newer, older) if entry])
    erase = navigation.find_url("erase", project, request)
    elsewhere = [Choice(label, navigation.find_url(key, project)) for key, label in _ELSEWHERE]
    context = {
        "thread": thread,
        "turns": load_turns(project, stored),
        "newer": build_thread_url(project, state, near[newer.thread].thread_id) if newer else "",
        "older": build_thread_url(project, state, near[older.thread].thread_id) if older else "",
        "is_filtered": state.is_filtered,
        "back": navigation.page_url(KEY, project) + state.link(),
        "redact": navigation.page_url(KEY, project, thread.thread_id, name="redact") + state.link(),
        "markdown": navigation.page_url(KEY, project, thread.thread_id, name="markdown"),
        "lines": navigation.page_url(KEY, project, thread.thread_id, name="thread_lines"),
        "erasures": {
            whose: f"{erase}?{urlencode({'whose': whose, 'identifier': thread.thread_id})}"
            for whose in (CONVERSATION, READER)
            if erase and (whose == CONVERSATION or thread.fp != SHARED_FP)
        },
        "elsewhere": [choice for choice in elsewhere if choice.link],
    }
    title = thread.title or "Conversation"
    return navigation.render(request, "admin/assistant/conversations/thread.html", project, title, context)


@require_POST
def redact(request: HttpRequest, project: Project, thread_id: str) -> HttpResponse:
    """Replace personal data in the stored texts of a conversation, and note it in the admin's history."""
    thread, _ = _load(project, thread_id)
    if changed := redact_thread(thread):
        thread.refresh_from_db()  # the history stores its title
        note = f"Replaced personal data in {changed} text{'' if changed == 1 else 's'}."
        LogEntry.objects.log_actions(str(request.user.pk), [thread], CHANGE, note, single_object=True)
        messages.success(request, note)
    else:
        messages.info(request, "No personal data was found.")
    state, _ = ListState.parse(request.GET)
    return HttpResponseRedirect(build_thread_url(project, state, thread.thread_id))


def export(request: HttpRequest, project: Project, thread_id: str, *, ending: str) -> HttpResponse:
    """One conversation as a file: `jsonl` is one line, `md` is for people."""
    thread, stored = _load(project, thread_id)
    form, content_type = _FORMS[ending]
    disposition = f'attachment; filename="{thread.thread_id}.{ending}"'
    headers = {"Content-Disposition": disposition, "Cache-Control": "no-store"}
    return HttpResponse(form(thread, stored), content_type=content_type, headers=headers)


def _load(project: Project, thread_id: str) -> tuple[Thread, list[Message]]:
    """A conversation of the project and its messages, oldest first. Raises 404."""
    thread = Thread.objects.filter(project=project, thread_id=thread_id).first()
    if thread is None:
        raise Http404
    return thread, list(Message.objects.filter(thread=thread).order_by("pk"))


def redact_thread(thread: Thread) -> int:
    """Remove personal data from a conversation. Returns how many of its parts changed.

    Its parts are the title, the messages with what was checked in them, and the comments of readers.
    """
    with transaction.atomic():
        messages = list(Message.objects.select_for_update().filter(thread=thread).order_by("pk"))
        changed = [message for message in messages if _redact_message(message)]
        Message.objects.bulk_update(changed, ["content", "checks"], batch_size=100)
        title = redaction.redact(thread.title)[:MAX_TITLE]
        is_title_changed = title != thread.title
        if is_title_changed:
            Thread.objects.filter(pk=thread.pk).update(title=title)
        comments = ratings.get_ratings().redact(message.pk for message in messages)
    return len(changed) + comments + is_title_changed


def _redact_message(message: Message) -> bool:
    content = redaction.redact(message.content)
    checks = [{**check, "written": redaction.redact(check.get("written", ""))} for check in message.checks]
    is_changed = content != message.content or checks != message.checks
    message.content, message.checks = content, checks
    return is_changed
