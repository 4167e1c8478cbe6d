"""“Was this page helpful?” without JavaScript: a form, the thanks, and a form for more.

With JavaScript the same form talks to `/discovery/v1/feedback/`, and each step of
both changes one row, by an id made for this reader and page.
"""

import uuid

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods
from pydantic import ValidationError

from analytics.feedback.schemas import FeedbackIn
from analytics.feedback.store import record
from docsite.core.access.api_middleware import as_api_error
from docsite.core.access.request_checks import BROWSER_IP
from docsite.core.http import ratelimit
from docsite.core.http.body import BROWSER_LIMIT
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.http.errors import ApiError, BadRequest, NotFound
from docsite.core.paths import normalize
from docsite.site import forms, interface_texts
from docsite.site.frame import frame, site_project
from docsite.site.navigation import every_page, known_language

THUMBS = {"yes": True, "no": False}
NAMES = {"comment": "The comment", "contact": "The e-mail address", "reason": "The reason", "path": "The page"}


@csrf_exempt  # the origin is checked instead, which needs no cookie
@require_http_methods(["GET", "HEAD", "POST"])
def feedback(request: HttpRequest) -> HttpResponse:
    """Keep what the form says; answer with thanks and what else can be said, or with why it was not kept."""
    if request.method != "POST":
        return HttpResponseRedirect("/")  # somebody came back to the address of the thanks
    said = FeedbackIn.model_validate({"source": "thumbs_only", "path": "/"})
    refusal: ApiError | None = None
    try:
        said = _said(request)
        _keep(request, said)
    except Exception as failure:  # the boundary: whatever it is, the reader gets the page with a sentence
        refusal = as_api_error(failure)
    around = frame(known_language(request.GET.get("language", "")))
    ours = {page.path for page in every_page()}
    path = normalize(said.path)
    shown = {
        "said": said,
        "back": path if path in ours else around["home"],
        "refusal": interface_texts.refusal(around["language"], refusal) if refusal else "",
    }
    response = render(request, "pages/feedback.html", around | shown, status=refusal.status if refusal else 200)
    return forms.finished(response, refusal)


def _said(request: HttpRequest) -> FeedbackIn:
    """What the form says. Raises `ApiError` for forms of other sites, and for more than a form holds."""
    form = forms.fields(request, BROWSER_LIMIT)
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
        raise BadRequest(sentence=f"{NAMES.get(name, 'The form')} is too long or missing.") from None


def _keep(request: HttpRequest, said: FeedbackIn) -> None:
    ratelimit.spend((BROWSER_IP, network_of(client_ip(request))))
    project = site_project()
    if project is None:
        raise NotFound("This site does not collect feedback.")
    record(project, said)
