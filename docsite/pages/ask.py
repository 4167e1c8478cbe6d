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

from assistant import doors, rendering
from assistant.answering import SORRY, Outcome
from assistant.models import Message
from assistant.schemas import LONGEST_TEXT, Ask
from assistant.wire import v1
from docsite.db import in_db
from docsite.http import ratelimit
from docsite.http.client_ip import client_ip
from docsite.http.errors import ApiError, BadRequest, Forbidden, NotFound, Unauthorized
from docsite.pages import forms
from docsite.pages.frame import frame
from docsite.pages.navigation import FIRST
from docsite.projects import auth
from docsite.projects.auth import Caller
from docsite.projects.gate import as_api_error, own_origin
from docsite.projects.guards import assistant_charges

NOT_SET_UP = "This site’s assistant is not set up. Search works without it."
LONGEST_PATH = 200


@csrf_exempt  # the origin is checked instead, which needs no cookie
@require_http_methods(["GET", "HEAD", "POST"])
async def ask(request: HttpRequest) -> HttpResponse:
    """The form, filled from `?q=` and `?path=`; after a POST the answer, or why there is none, with its status."""
    outcome: Outcome | None = None
    refusal: ApiError | None = None
    question, path = request.GET.get("q", ""), request.GET.get("path", "")
    if request.method == "POST":
        try:
            question, path = _said(request)
            outcome = await _answered(request, question, path)
        except Exception as failure:  # the boundary: whatever it is, the reader gets the page with a sentence
            refusal = as_api_error(failure)
    if outcome and outcome.state != "done":
        refusal = ApiError(503, SORRY)
    shown = {
        "question": question[:LONGEST_TEXT],
        "path": path[:LONGEST_PATH],
        "longest": LONGEST_TEXT,
        "answer": rendering.render(outcome.text) if outcome else "",
        "sources": outcome.sources if outcome else (),
        "refusal": refusal,
    }
    response = await in_db(_page)(request, shown, refusal.status if refusal else 200)
    return forms.finished(response, refusal)


def _page(request: HttpRequest, shown: dict[str, Any], status: int) -> HttpResponse:
    around = frame()
    return render(request, "pages/ask.html", around | shown | {"ready": around["widget"] is not None}, status=status)


def _said(request: HttpRequest) -> tuple[str, str]:
    """Question and page of the form. Refuses forms of other sites, and what is no question."""
    form = forms.fields(request, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    question, path = form.get("question", "").strip(), form.get("path", "")
    if not question:
        raise BadRequest(sentence="Write a question first.")
    if len(question) > LONGEST_TEXT:
        raise BadRequest(sentence=f"The question has more than {LONGEST_TEXT:,} characters.")
    return question, path


async def _answered(request: HttpRequest, question: str, path: str) -> Outcome:
    """Ask as the widget does: stored, and counted against the same limits. Raises `ApiError`."""
    caller = await in_db(_admitted)(request)
    body = Ask.model_validate(
        {
            "fp": "anonymous",
            "messages": [{"role": "user", "content": question}],
            "currentPath": path[:LONGEST_PATH] or None,
            "filter": {"language": FIRST},  # this page is in no other
        }
    )
    door = doors.Door(Message.Caller.WEB, own_origin(request), v1.encode, keep=False)
    live = await doors.ask(caller, body, door)
    async with aclosing(live.read()) as chunks:
        async for _ in chunks:
            pass
    return live.outcome


def _admitted(request: HttpRequest) -> Caller:
    try:
        address = client_ip(request)
        caller = auth.assistant_caller(settings.ENV.site_assistant_key, settings.ENV.site_domain, address)
    except (Unauthorized, Forbidden, NotFound):
        raise ApiError(503, NOT_SET_UP) from None
    ratelimit.spend(*assistant_charges(caller))
    return caller
