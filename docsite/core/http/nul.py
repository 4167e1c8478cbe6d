"""Finds NUL characters in a request. PostgreSQL takes them in no text, so no parameter may have one."""

from django.http import HttpRequest


def find_nul(request: HttpRequest) -> str | None:
    """The name of a parameter with a NUL character: `path`, a query parameter or a cookie. None if there is none.

    Bodies are checked where they are parsed (`docsite.core.http.body`, Django's forms).
    """
    if "\0" in request.path_info:
        return "path"
    query = str(request.META.get("QUERY_STRING", ""))
    if "%00" in query or "\0" in query:
        return next((name for name, values in request.GET.lists() if "\0" in name + "".join(values)), None)
    if "\\000" in request.META.get("HTTP_COOKIE", ""):  # a quoted cookie writes it so
        return next((name for name, value in request.COOKIES.items() if "\0" in value), None)
    return None
