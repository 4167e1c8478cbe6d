"""The pages of errors."""

import sys

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden, HttpResponseNotFound, HttpResponseServerError
from django.middleware import csrf
from django.utils.html import format_html

from docsite.core import context
from docsite.core.http.errors import is_store_failure


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """The page of a path that does not exist, where the documentation is not served."""
    return HttpResponseNotFound("<!doctype html><html lang=en><title>Not found</title><h1>Not found</h1>")


def refuse_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The page of a form that seems to come from another site: which header is wrong, and what to do about it."""
    why, advice = _explain_refusal(request, reason)
    page = (
        "<!doctype html><html lang=en><title>Form refused</title><h1>This form was refused</h1>"
        '<p id="why">{}</p><p id="advice">{}</p>'
    )
    return HttpResponseForbidden(format_html(page, why, advice))


def _explain_refusal(request: HttpRequest, reason: str) -> tuple[str, str]:
    """Which header of a form is wrong, by the reason of Django's check."""
    origin, host = request.headers.get("Origin", ""), request.get_host()
    if origin == "null" or reason in (csrf.REASON_NO_REFERER, csrf.REASON_MALFORMED_REFERER):
        return (
            f"The browser does not say from which page the form comes (Origin: {origin or 'missing'}).",
            "If a proxy sends the header Referrer-Policy: no-referrer, remove it there.",
        )
    if origin == f"https://{host}":
        advice = "Let the proxy send X-Forwarded-Proto, and name the proxy in TRUSTED_PROXIES."
        return f"The page is at {origin}, and the request arrives by http.", advice
    if "Origin checking" in reason or "Referer checking" in reason:
        origin = origin or request.headers["Referer"][:200]
        advice = "Let the proxy pass on Host with its port (nginx: proxy_set_header Host $http_host)."
        return f"The page is at {origin}, and the header Host arrives as {host}.", advice
    if "cookie" in reason.lower():
        advice = "Allow cookies. With HTTPS_ONLY, the address of the page must begin with https://."
        return f"The cookie {settings.CSRF_COOKIE_NAME} did not arrive.", advice
    return "The form is too old, or was sent twice.", "Load its page again, and send it once more."


def server_error(request: HttpRequest) -> HttpResponse:
    """Name the reference, under which the log has the cause. It uses no template, which may be what failed.

    503 if the database does not answer.
    """
    failure = sys.exc_info()[1]
    if isinstance(failure, Exception) and is_store_failure(failure):
        page = (
            "<!doctype html><html lang=en><title>Unavailable</title><h1>Unavailable</h1>"
            "<p>The database does not answer. Try again shortly.</p>"
        )
        return HttpResponse(page, status=503, headers={"Retry-After": "5"})
    return HttpResponseServerError(
        "<!doctype html><html lang=en><title>Internal error</title>"
        f"<h1>Internal error</h1><p>Internal error, reference {context.request_id.get()}.</p>"
    )
