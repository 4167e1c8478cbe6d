"""The widget's files: a loader under a short address, and the panel it loads."""

import functools
import hashlib

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_GET

from docsite.http.errors import NotFound


@functools.cache
def _file(name: str) -> tuple[bytes, str]:
    content = (settings.WIDGET_DIST / name).read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


@require_GET
async def widget_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """A built file of the widget, for pages of any origin; revalidated by ETag, kept five minutes."""
    try:
        content, etag = _file(name)
    except FileNotFoundError:
        raise NotFound("The widget has not been built. Run `make widget`.") from None
    headers = {
        "ETag": etag,
        "Cache-Control": "public, max-age=300",
        "Access-Control-Allow-Origin": "*",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    if request.headers.get("If-None-Match") == etag:
        return HttpResponseNotModified(headers=headers)
    return HttpResponse(content, content_type="text/javascript; charset=utf-8", headers=headers)
