"""Serves the built scripts. Pages on every origin load them."""

import functools
import gzip
import hashlib
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase

from docsite.core.http.errors import NotFound

SHORT_CACHE = "public, max-age=300"
IMMUTABLE_CACHE = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Script:
    """The bytes of a script. Its digest appears in URLs and ETags."""

    content: bytes

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256, in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()

    @functools.cached_property
    def compressed(self) -> bytes:
        """The bytes as gzip, about a third of the size."""
        return gzip.compress(self.content, 9, mtime=0)


@functools.cache
def load_script(name: str) -> Script:
    """A script of the build. Raises `NotFound`."""
    try:
        return Script((settings.WIDGET_DIST / name).read_bytes())
    except FileNotFoundError:
        raise NotFound("This script has not been built. Run `make widget`.") from None


def script_response(request: HttpRequest, script: Script, cache_control: str) -> HttpResponseBase:
    """The response with a script, for pages on every origin; browsers revalidate it by ETag."""
    compress = _accepts_gzip(request)
    etag = f'"{script.digest[:32]}{"-gzip" if compress else ""}"'
    headers = {
        "ETag": etag,
        "Cache-Control": cache_control,
        "Vary": "Accept-Encoding",
        "Access-Control-Allow-Origin": "*",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    if etag in request.headers.get("If-None-Match", ""):  # `in`: a compressing proxy makes a weak ETag of it
        return HttpResponseNotModified(headers=headers)
    if compress:
        headers["Content-Encoding"] = "gzip"
    content = script.compressed if compress else script.content
    return HttpResponse(content, content_type="text/javascript; charset=utf-8", headers=headers)


def _accepts_gzip(request: HttpRequest) -> bool:
    accepted = request.headers.get("Accept-Encoding", "").lower().replace(" ", "").split(",")
    return "gzip" in (coding.partition(";")[0] for coding in accepted if not coding.endswith((";q=0", ";q=0.0")))
