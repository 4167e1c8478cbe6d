"""Forms of these pages. They carry no token and need no cookie: the origin tells whose they are."""

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


def fields(request: HttpRequest, limit: int) -> dict[str, str]:
    """What a form of this site says. `limit` is in bytes.

    Raises `ApiError` for the form of another site, one that is too large, and one that cannot be read or stored.
    """
    if request.headers.get("Origin") != own_origin(request):
        raise Forbidden("This form is taken from the pages of this site only.")
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


def finished(response: HttpResponse, refusal: ApiError | None) -> HttpResponse:
    """The page that answers a form: with the headers of a refusal, and for nobody to keep."""
    for name, value in (refusal.headers if refusal else {}).items():
        response.headers[name] = value
    response.headers["Cache-Control"] = "no-store"
    return response
