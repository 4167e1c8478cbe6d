"""The page of one group of questions, and what an owner does there. Each action is a form, so it needs no script."""

from collections.abc import Callable
from typing import Any

from asgiref.sync import async_to_sync
from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.utils import timezone

from assistant.admin.gap_forms import AskForm, AssignForm, GoldenForm, NoteForm, PinForm, QuestionForm, WordsForm
from assistant.admin.preview import Preview, run_preview
from assistant.answering.question import Question
from assistant.improving.gaps import asking_again
from assistant.improving.gaps.actions import ActionError, Actor
from assistant.improving.gaps.group_report import GroupReport, load_group
from assistant.improving.question_groups import grouping
from assistant.improving.question_groups.pins import find_pin
from assistant.models import AssistantSettings, Message, QuestionGroup
from assistant.models.question_groups import MAX_QUESTION
from assistant.running_answers.capacity import Full
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.reports import links
from docsite.core.workspace.reports.report_state import ReportState, previous_period
from search.hits import Filters

MIN_LIKELY_CHANCE = 0.5  # that the nearest page answers the question


lines: list[Callable[[QuestionGroup], str]] = []  # functions of other apps: what they know of a group, or nothing

# The form of each action, and the method that takes its fields.
_ACTIONS: dict[str, tuple[Callable[..., forms.Form], Callable[..., str]]] = {
    "assign": (AssignForm, Actor.assign),
    "note": (NoteForm, Actor.add_note),
    "dismiss": (forms.Form, Actor.dismiss),
    "reopen": (forms.Form, Actor.reopen),
    "fix": (QuestionForm, Actor.mark_fixed),
    "pin": (PinForm, Actor.pin),
    "unpin": (forms.Form, Actor.unpin),
    "words": (WordsForm, Actor.add_words),
    "golden": (GoldenForm, Actor.make_golden),
}


def show_group(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The page of a group."""
    return _render(request, project, _find_group(project, pk))


def act(request: HttpRequest, project: Project, pk: int, action: str) -> HttpResponse:
    """Do what a form asks for, and go back to the group; or ask its question again, and show the new answer."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    group = _find_group(project, pk)
    if action == "ask":
        return _ask(request, project, group)
    if action not in _ACTIONS:
        raise Http404
    build_form, run = _ACTIONS[action]
    more = {"project": project} if action == "assign" else {}
    form = build_form(request.POST, auto_id=f"{action}-%s", **more)
    if not form.is_valid():
        return _render(request, project, group, {action: form})
    try:
        sentence = run(Actor(request.user.get_username(), group), **form.cleaned_data)
    except ActionError as error:
        form.add_error(None, str(error))
        return _render(request, project, group, {action: form})
    messages.success(request, sentence)
    return HttpResponseRedirect(navigation.page_url("gaps", project, pk, name="group"))


def _ask(request: HttpRequest, project: Project, group: QuestionGroup) -> HttpResponse:
    form = AskForm(request.POST, auto_id="ask-%s")
    if not form.is_valid():
        return _render(request, project, group, {"ask": form})
    text = form.cleaned_data["question"]
    question = Question(text, pinned=find_pin(project, text, Filters()))
    network = network_of(client_ip(request))
    try:
        preview = async_to_sync(run_preview)(project, AssistantSettings.for_project(project), question, network)
    except Full as full:
        form.add_error(None, str(full))
        return _render(request, project, group, {"ask": form})
    return _render(request, project, group, {"ask": form}, preview)


def _render(
    request: HttpRequest,
    project: Project,
    group: QuestionGroup,
    bound: dict[str, forms.Form] | None = None,
    preview: Preview | None = None,
) -> HttpResponse:
    bound = bound or {}
    state, window, errors = ReportState.read(request.GET)
    context = links.range_picker(state, window, errors)
    context["complete"] = grouping.catch_up(grouping.PAGE_SECONDS)
    start, end = window or ReportState().window(timezone.now())
    shown = load_group(project, group, start, end)
    wrong = bool(errors) or any(form.errors for form in bound.values())
    context |= {
        "period": previous_period(start, end),
        "shown": shown,
        "group": group,
        "preview": preview,
        "new_outcome": Message.Outcome(preview.outcome.kind).label if preview else "",
        "forms": {**_forms(project, shown), **bound},
        "max_questions": asking_again.MAX_QUESTIONS,
        "lines": [line for find in lines if (line := find(group))],
        "back": navigation.page_url("gaps", project),
        "address": navigation.page_url("gaps", project, group.pk, name="group"),
    }
    title = f"{'Gap' if group.has_problem else 'Question'}: {shown.gap.text[:80]}"
    return navigation.render(request, "admin/assistant/gaps/group.html", project, title, context, wrong=wrong)


def _forms(project: Project, shown: GroupReport) -> dict[str, forms.Form]:
    """The forms, filled with what is known."""
    group, text = shown.gap.group, (shown.gap.group.question or shown.gap.text)[:MAX_QUESTION]
    is_likely = bool(shown.pages) and (shown.chance or 0) >= MIN_LIKELY_CHANCE  # another page is for the owner to name
    path, words = (shown.pages[0][0].path, shown.pages[0][1]) if is_likely else ("", "")
    pin = shown.pin
    page = f"{pin.path}#{pin.anchor}".rstrip("#") if pin else path
    initial: dict[str, dict[str, Any]] = {
        "ask": {"question": text},
        "fix": {"question": text},
        "pin": {"text": pin.text if pin else "", "page": page},
        "words": {"path": path, "words": words.splitlines()},
        "golden": {"question": text, "paths": [path] if path else []},
        "note": {},
    }
    kinds: dict[str, Callable[..., forms.Form]] = {
        "ask": AskForm,
        **{name: form for name, (form, _) in _ACTIONS.items()},
    }
    filled = {name: kinds[name](initial=values, auto_id=f"{name}-%s") for name, values in initial.items()}
    assign = AssignForm(project=project, initial={"assignee": group.assignee_id}, auto_id="assign-%s")
    return {**filled, "assign": assign}


def _find_group(project: Project, pk: int) -> QuestionGroup:
    groups = QuestionGroup.objects.select_related("project", "assignee")
    return get_object_or_404(groups, pk=pk, project=project)
