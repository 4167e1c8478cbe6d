"""The pages of errors."""

import sys

from django.http import HttpRequest, HttpResponse, HttpResponseNotFound, HttpResponseServerError

from docsite.core import context
from docsite.core.http.errors import is_store_failure


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """The page of a path that does not exist, where the documentation is not served."""
    return HttpResponseNotFound("<!doctype html><html lang=en><title>Not found</title><h1>Not found</h1>")


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
