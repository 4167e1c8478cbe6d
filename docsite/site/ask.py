"""`/ask`: a question without JavaScript, and the whole answer below it.

Asking is a POST: what follows links or fetches ahead costs nothing.
"""

from contextlib import aclosing
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from assistant.answering.pipeline import SORRY, Outcome
from assistant.conversations import transcript
from assistant.models import Message
from assistant.schemas import MAX_TEXT, Ask
from assistant.sessions.start import Transport, start_answer
from docsite.core.access import authentication
from docsite.core.access.api_middleware import as_api_error, own_origin
from docsite.core.access.authentication import Caller
from docsite.core.access.request_checks import assistant_charges
from docsite.core.db import in_db
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
from docsite.site.frame import frame
from docsite.site.navigation import FIRST, home, known_language

LONGEST_PATH = 200


@csrf_exempt  # the origin is checked instead, which needs no cookie
@require_http_methods(["GET", "HEAD", "POST"])
async def ask(request: HttpRequest) -> HttpResponse:
    """The form in `?language=`, filled from `?q=` and `?path=`; after a POST the answer, or why there is none."""
    outcome: Outcome | None = None
    refusal: ApiError | None = None
    question, path = request.GET.get("q", ""), request.GET.get("path", "")
    language = known_language(request.GET.get("language", ""))
    if request.method == "POST":
        try:
            form = forms.fields(request, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
            question, path = form.get("question", "").strip(), form.get("path", "")
            _check(question)
            outcome = await _answered(request, question, path, language)
        except Exception as failure:  # the boundary: whatever it is, the reader gets the page with a sentence
            refusal = as_api_error(failure)
    if outcome and outcome.state != "done":
        refusal = ApiError(503, SORRY)
    shown = {
        "question": question[:MAX_TEXT],
        "path": path[:LONGEST_PATH],
        "longest": MAX_TEXT,
        "answer": transcript.render(outcome.text) if outcome else "",
        "sources": outcome.sources if outcome else (),
        "status": refusal.status if refusal else 200,
        "refusal": interface_texts.refusal(language, refusal) if refusal else "",
    }
    response = await in_db(_page)(request, language, shown)
    return forms.finished(response, refusal)


def _page(request: HttpRequest, language: str, shown: dict[str, Any]) -> HttpResponse:
    around = frame(language)
    context = around | shown | {"ready": around["widget"] is not None}
    return render(request, "pages/ask.html", context, status=shown["status"])


def _check(question: str) -> None:
    """Refuse what is no question."""
    if not question:
        raise BadRequest(sentence="Write a question first.")
    if len(question) > MAX_TEXT:
        raise BadRequest(sentence=f"The question has more than {MAX_TEXT:,} characters.")


async def _answered(request: HttpRequest, question: str, path: str, language: str) -> Outcome:
    """Ask as the widget does: stored, and counted against the same limits. Raises `ApiError`."""
    caller = await in_db(_admitted)(request)
    body = Ask.model_validate(
        {
            "fp": "anonymous",
            "messages": [{"role": "user", "content": question}],
            # Of another language there are a few pages: they are preferred, and the rest is not left out.
            "currentPath": path[:LONGEST_PATH] or (None if language == FIRST else home(language).path),
            "filter": {"language": FIRST} if language == FIRST else None,
        }
    )
    answer = await start_answer(caller, body, Transport(Message.Caller.WEB, own_origin(request)))
    async with aclosing(answer.read()) as events:
        async for _ in events:
            pass
    return answer.outcome


def _admitted(request: HttpRequest) -> Caller:
    try:
        address = client_ip(request)
        caller = authentication.assistant_caller(settings.ENV.site_assistant_key, settings.ENV.site_domain, address)
    except (Unauthorized, Forbidden, NotFound):
        raise ApiError(503, interface_texts.PAGE[FIRST]["no_assistant"]) from None
    ratelimit.spend(*assistant_charges(caller))
    return caller
