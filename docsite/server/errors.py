"""The page of an internal error."""

import sys

from django.http import HttpRequest, HttpResponse, HttpResponseServerError

from docsite.core import context
from docsite.core.http.errors import is_store_failure


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
