"""“Was this page helpful?” without JavaScript: a form, a page of thanks, and a form for more.

With JavaScript the same form calls `/discovery/v1/feedback/`. Each step changes the
same row, by an id that is created for this reader and page.
"""

import uuid

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods
from pydantic import ValidationError

from analytics.feedback.schemas import FeedbackIn
from analytics.feedback.store import record
from analytics.limits import FEEDBACK_IP
from docsite.core.access.api_middleware import as_api_error
from docsite.core.http import ratelimit
from docsite.core.http.body import BROWSER_LIMIT
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.http.errors import ApiError, BadRequest, NotFound
from docsite.core.paths import normalize
from docsite.site import forms, interface_texts
from docsite.site.navigation import all_pages, language_or_default
from docsite.site.page_context import page_context, site_project

THUMBS = {"yes": True, "no": False}
FIELD_NAMES = {"comment": "The comment", "contact": "The e-mail address", "reason": "The reason", "path": "The page"}


@csrf_exempt  # the origin is checked instead, which needs no cookie
@require_http_methods(["GET", "HEAD", "POST"])
def feedback(request: HttpRequest) -> HttpResponse:
    """Store the form; respond with thanks and a form for more, or with the reason why it was not stored."""
    if request.method != "POST":
        return HttpResponseRedirect("/")  # for example a reload of the address of the thanks page
    submission = FeedbackIn.model_validate({"source": "thumbs_only", "path": "/"})
    refusal: ApiError | None = None
    try:
        submission = _parse_feedback(request)
        _store(request, submission)
    except Exception as failure:  # the boundary: after every failure the reader gets the page with a sentence
        refusal = as_api_error(failure)
    context = page_context(language_or_default(request.GET.get("language", "")))
    own_paths = {page.path for page in all_pages()}
    path = normalize(submission.path)
    result = {
        "submission": submission,
        "back": path if path in own_paths else context["home"],
        "refusal": interface_texts.translate_refusal(context["language"], refusal) if refusal else "",
    }
    response = render(request, "pages/feedback.html", context | result, status=refusal.status if refusal else 200)
    return forms.finish_response(response, refusal)


def _parse_feedback(request: HttpRequest) -> FeedbackIn:
    """The content of the form. Raises `ApiError` for forms of other sites, and for too long fields."""
    form = forms.parse_form(request, BROWSER_LIMIT)
    reason, comment = form.get("reason", ""), form.get("comment", "")
    try:
        return FeedbackIn.model_validate(
            {
                "source": "contextual" if reason or comment else "thumbs_only",
                "path": form.get("path", ""),
                "helpful": THUMBS.get(form.get("helpful", "")),
                "reason": reason,
                "comment": comment,
                "contact": form.get("contact", ""),
                "id": form.get("id") or uuid.uuid4().hex,
            }
        )
    except ValidationError as wrong:
        name = str(wrong.errors()[0]["loc"][0])
        raise BadRequest(sentence=f"{FIELD_NAMES.get(name, 'The form')} is too long or missing.") from None


def _store(request: HttpRequest, submission: FeedbackIn) -> None:
    ratelimit.spend((FEEDBACK_IP, network_of(client_ip(request))))
    project = site_project()
    if project is None:
        raise NotFound("This site does not collect feedback.")
    record(project, submission)
