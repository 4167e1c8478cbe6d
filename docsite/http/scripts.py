"""The scripts that pages of other sites load: the widget's loader and panel, and the view script."""

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
async def script(request: HttpRequest, name: str) -> HttpResponseBase:
    """A built script, for pages of any origin; revalidated by ETag, kept five minutes."""
    try:
        content, etag = _file(name)
    except FileNotFoundError:
        raise NotFound("This script has not been built. Run `make widget`.") from None
    headers = {
        "ETag": etag,
        "Cache-Control": "public, max-age=300",
        "Access-Control-Allow-Origin": "*",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    if etag in request.headers.get("If-None-Match", ""):  # a proxy that compresses makes it a weak one
        return HttpResponseNotModified(headers=headers)
    return HttpResponse(content, content_type="text/javascript; charset=utf-8", headers=headers)
