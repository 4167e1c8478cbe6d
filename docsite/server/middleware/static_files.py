"""Serve static files from WhiteNoise's table, without leaving the event loop."""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import markcoroutinefunction
from django.conf import settings
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware

from docsite.core.base_path import base_path


class Storage(StaticFilesStorage):
    """Gives the addresses of static files: below the base path of the request, unless a CDN has them."""

    def url(self, name: str | None) -> str:
        """The address of a file."""
        return ("" if settings.ENV.cdn_origin else base_path()) + super().url(name)


class StaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise, but asynchronous: its own middleware would cost every page two thread switches."""

    sync_capable = False
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> None:
        super().__init__(get_response)
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve the file at this path, or call the next middleware."""
        file = self.find_file(request.path_info) if self.autorefresh else self.files.get(request.path_info)
        if file is None:
            response: HttpResponseBase = await self.get_response(request)
            return response
        tag = request.META.get("HTTP_IF_NONE_MATCH", "")  # weak if the response was compressed
        found: Any = file.get_response(request.method, {**request.META, "HTTP_IF_NONE_MATCH": tag.removeprefix("W/")})
        content = b""
        if found.file is not None:
            with found.file:
                content = found.file.read()  # a few kB, in the page cache of the operating system
        answer = HttpResponse(content, status=int(found.status))
        del answer["Content-Type"]
        for name, value in found.headers:
            answer[name] = value
        if found.file is not None:
            answer["Content-Length"] = str(len(content))  # the file may have changed since the service started
        return answer
