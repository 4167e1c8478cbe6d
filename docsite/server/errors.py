"""The page of an internal error."""

from django.http import HttpRequest, HttpResponse, HttpResponseServerError

from docsite.core import context


def server_error(request: HttpRequest) -> HttpResponse:
    """Name the reference, under which the log has the cause. It uses no template, which may be what failed."""
    return HttpResponseServerError(
        "<!doctype html><html lang=en><title>Internal error</title>"
        f"<h1>Internal error</h1><p>Internal error, reference {context.request_id.get()}.</p>"
    )
