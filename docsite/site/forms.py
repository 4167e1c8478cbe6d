"""Forms of these pages. They need no CSRF token and no cookie: the Origin header names the site that sent them."""

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError

from docsite.core.access.api_middleware import own_origin
from docsite.core.http.errors import (
    ApiError,
    BadRequest,
    Forbidden,
    TooLarge,
)


def parse_form(request: HttpRequest, limit: int) -> dict[str, str]:
    """Parse a form that a page of this site has posted, and return its fields.

    `limit` is the largest body in bytes. Raises `ApiError` when another site posted the form, or when the form is too
    large or malformed.
    """
    if request.headers.get("Origin") != own_origin(request):
        raise Forbidden("This form is accepted from the pages of this site only.")
    try:
        too_large = len(request.body) > limit
    except RequestDataTooBig:
        too_large = True
    if too_large:
        raise TooLarge(limit)
    try:
        form = {name: str(value) for name, value in request.POST.items()}
    except (SuspiciousOperation, MultiPartParserError):
        raise BadRequest(sentence="The form cannot be read.") from None
    if "\x00" in "".join(form.values()):
        raise BadRequest(sentence="The form contains a character that cannot be stored.")
    return form


def finish_response(response: HttpResponse, refusal: ApiError | None) -> HttpResponse:
    """Complete the response to a form: add the headers of a refusal, and forbid caching."""
    for name, value in (refusal.headers if refusal else {}).items():
        response.headers[name] = value
    response.headers["Cache-Control"] = "no-store"
    return response
