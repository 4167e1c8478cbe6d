"""`/ask`: asks a question without JavaScript, and shows the whole answer below it.

A question is a POST request, so that crawlers and prefetching browsers cause no costs.
"""

from contextlib import aclosing
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from assistant.answering.pipeline import SORRY
from assistant.answering.question import Question
from assistant.answering.record import Outcome
from assistant.asking.askers import identify_asker
from assistant.asking.rate_limits import assistant_charges
from assistant.asking.schemas import MAX_TEXT
from assistant.asking.start import start_answer
from assistant.conversations import transcript
from assistant.models import Message, SupportSettings
from docsite.core import context
from docsite.core.access import authentication
from docsite.core.access.api_middleware import as_api_error, own_origin
from docsite.core.access.authentication import Caller
from docsite.core.db import REQUESTS, in_db
from docsite.core.http import ratelimit
from docsite.core.http.client_address import client_ip
from docsite.core.http.errors import (
    ApiError,
    BadRequest,
    Forbidden,
    NotFound,
    Unauthorized,
)
from docsite.site import forms, interface_texts
from docsite.site.navigation import DEFAULT_LANGUAGE, home_page, language_or_default
from docsite.site.page_context import page_context, site_project
from search.hits import Filters

MAX_PATH_LENGTH = 200


@csrf_exempt  # the origin is checked instead, which needs no cookie
@require_http_methods(["GET", "HEAD", "POST"])
async def ask(request: HttpRequest) -> HttpResponse:
    """Show the form in `?language=`, filled from `?q=` and `?path=`. After a POST, show the answer or an error."""
    outcome: Outcome | None = None
    thread_id = ""
    refusal: ApiError | None = None
    question, path = request.GET.get("q", ""), request.GET.get("path", "")
    language = language_or_default(request.GET.get("language", ""))
    if request.method == "POST":
        try:
            form = forms.parse_form(request, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
            question, path = form.get("question", "").strip(), form.get("path", "")
            if not question:
                raise BadRequest(sentence="Write a question first.")
            if len(question) > MAX_TEXT:
                raise BadRequest(sentence=f"The question has more than {MAX_TEXT:,} characters.")
            outcome, thread_id = await _answer(request, question, path, language)
        except Exception as failure:  # the boundary: after every failure the reader gets the page with a sentence
            refusal = as_api_error(failure)
    if outcome and outcome.state != "done":
        refusal = ApiError(503, SORRY)
    result = {
        "question": question[:MAX_TEXT],
        "path": path[:MAX_PATH_LENGTH],
        "max_length": MAX_TEXT,
        "answer": transcript.render(outcome.text) if outcome else "",
        "quoted": outcome is not None and outcome.rung in ("extractive", "closest_passages"),
        "sources": outcome.sources if outcome else (),
        "cut_by": outcome.cut_by if outcome else "",
        "status": refusal.status if refusal else 200,
        "refusal": interface_texts.translate_refusal(language, refusal) if refusal else "",
        "thread_id": thread_id,
    }
    with context.limit_database_time(REQUESTS.seconds):  # anew, after an answer that took its time
        response = await in_db(_page)(request, language, result)
    return forms.finish_response(response, refusal)


def _page(request: HttpRequest, language: str, result: dict[str, Any]) -> HttpResponse:
    context = page_context(language)
    context |= result | {"ready": context["widget"] is not None, "support": _support_path(result["thread_id"])}
    return render(request, "pages/ask.html", context, status=result["status"])


def _support_path(thread_id: str) -> str:
    """The path of the form to write to a person, with this conversation; empty if the site has none."""
    project = site_project()
    if project is None or not SupportSettings.for_project(project).is_on:
        return ""
    query = {"threadId": thread_id} if thread_id else None
    return reverse("pages:support", args=[project.domain], query=query)


async def _answer(request: HttpRequest, text: str, path: str, language: str) -> tuple[Outcome, str]:
    """Ask as the widget does: the answer is stored, and the same limits apply. Returns it with the id of its thread.

    Raises `ApiError`.
    """
    caller = await in_db(_admit)(request)
    is_default = language == DEFAULT_LANGUAGE
    current_path = path[:MAX_PATH_LENGTH] or ("" if is_default else home_page(language).path)
    question = Question(
        text,
        identify_asker(caller, "anonymous", own_origin(request)),
        caller=Message.Caller.WEB,
        # Other languages have few pages: these are preferred, but English pages are found, too.
        filters=Filters(language=DEFAULT_LANGUAGE) if is_default else Filters(),
        current_path=caller.project.path_of(current_path) if current_path else "",
    )
    answer = await start_answer(caller.project, question)
    async with aclosing(answer.subscribe()) as events:
        async for _ in events:
            pass
    return answer.outcome, answer.thread_id


def _admit(request: HttpRequest) -> Caller:
    try:
        address = client_ip(request)
        caller = authentication.assistant_caller(settings.ENV.site_assistant_key, settings.ENV.site_domain, address)
    except (Unauthorized, Forbidden, NotFound):
        raise ApiError(503, interface_texts.PAGE[DEFAULT_LANGUAGE]["no_assistant"]) from None
    ratelimit.spend(*assistant_charges(caller))
    return caller
