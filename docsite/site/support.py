"""`/support/{domain}`: a reader writes to a person without JavaScript, with the conversation if they wish.

It serves every project that takes support requests. Links in refusals lead here.
"""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation.trans_real import parse_accept_lang_header
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods
from pydantic import ValidationError

from assistant.conversations import transcript
from assistant.models import SupportSettings, Thread
from assistant.support_requests import form_tokens, store
from assistant.support_requests.limits import SUPPORT_IP, SUPPORT_ORG
from assistant.support_requests.schemas import MAX_MESSAGE, MAX_SUBJECT, SupportRequestIn
from docsite.core.access.api_middleware import as_api_error
from docsite.core.access.authentication import project_by_domain
from docsite.core.access.request_checks import BROWSER_IP
from docsite.core.http import ratelimit
from docsite.core.http.body import BROWSER_LIMIT
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.http.errors import ApiError, BadRequest
from docsite.core.tenants.models import Project
from docsite.site import forms, interface_texts
from docsite.site.navigation import DEFAULT_LANGUAGE, LANGUAGES
from docsite.site.page_context import is_reader, page_context, site_project

FIELDS = ("email", "subject", "message", "path", "threadId", "token", "homepage")
TURN = "turn-"  # with the id of an answer after it: the name of its check box


@csrf_exempt  # the origin is checked instead, which needs no cookie
@require_http_methods(["GET", "HEAD", "POST"])
def support(request: HttpRequest, domain: str) -> HttpResponse:
    """Show the form, filled from `?subject=`, `?path=` and `?threadId=`. After a POST, show the number, or an error."""
    project = project_by_domain(domain)
    if project is None or not SupportSettings.for_project(project).is_on:
        raise Http404
    language = _choose_language(request)
    values = {name: request.GET.get(name, "") for name in ("subject", "path", "threadId")}
    refusal: ApiError | None = None
    unticked: set[str] = set()
    sent_id = ""
    try:
        if request.method == "POST":
            form = forms.parse_form(request, BROWSER_LIMIT)
            ratelimit.spend((SUPPORT_IP, network_of(client_ip(request))), (SUPPORT_ORG, str(project.organization_id)))
            values = {name: form.get(name, "") for name in FIELDS}
            thread = store.find_recent_thread(project, values["threadId"])
            chosen = [name.removeprefix(TURN) for name in form if name.startswith(TURN)]
            unticked = {exchange.message_id for exchange in _exchanges(thread) if exchange.message_id not in chosen}
            sent_id = store.record(project, _parse(values, chosen), thread).request_id
        else:
            ratelimit.spend((BROWSER_IP, network_of(client_ip(request))))
            if is_reader(request):
                store.count_form(project, "begun")
    except Exception as failure:  # the boundary: after every failure the reader gets the page with a sentence
        refusal = as_api_error(failure)
    context = _frame(project, language) | {
        "project": project,
        "values": values,
        "max_subject": MAX_SUBJECT,
        "max_message": MAX_MESSAGE,
        "token": form_tokens.issue(project),
        "exchanges": [
            {
                "id": exchange.message_id,
                "question": exchange.question,
                "answer": transcript.render(exchange.answer),
                "ticked": exchange.message_id not in unticked,
            }
            for exchange in _exchanges(store.find_recent_thread(project, values["threadId"]))
        ],
        "wrong": _wrong_fields(refusal, language),
        "refusal": interface_texts.translate_refusal(language, refusal) if refusal else "",
        "sent_id": sent_id,
    }
    response = render(request, "pages/support.html", context, status=refusal.status if refusal else 200)
    response.headers["Referrer-Policy"] = "same-origin"  # the address has the id of the conversation
    return forms.finish_response(response, refusal)


def _parse(values: dict[str, str], chosen: list[str]) -> SupportRequestIn:
    """The content of the form. Raises `BadRequest` for too long fields."""
    fields = {**values, "threadId": values["threadId"] or None, "messageIds": chosen}
    try:
        return SupportRequestIn.model_validate(fields)
    except ValidationError as wrong:
        raise BadRequest(f"{wrong.errors()[0]['loc'][0]}: is too long") from None


def _exchanges(thread: Thread | None) -> list[store.Exchange]:
    return store.load_exchanges(thread) if thread else []


def _wrong_fields(refusal: ApiError | None, language: str) -> dict[str, str]:
    """A sentence for each field that is wrong, by its name."""
    names = [detail.partition(":")[0] for detail in refusal.details] if refusal else []
    return {name: interface_texts.SUPPORT_ERRORS[language][name] for name in names}


def _choose_language(request: HttpRequest) -> str:
    """The language of the address, else the first of the browser's that we have."""
    header = parse_accept_lang_header(request.headers.get("Accept-Language", "")[:500])
    wanted = [request.GET.get("language", ""), *(code[:2] for code, _ in header)]
    return next((code for code in wanted if code in LANGUAGES), DEFAULT_LANGUAGE)


def _frame(project: Project, language: str) -> dict[str, Any]:
    """The context of the page around the form: a page of this site for its own project, else a bare page."""
    own = site_project()
    if own and own.pk == project.pk:
        return page_context(language) | {"base": "base.html"}
    return {
        "base": "pages/bare.html",
        "language": language,
        "in_language": f"?language={language}",
        "words": interface_texts.PAGE[language],
        "site_name": project.name,
        "home": project.docs_url,
    }
