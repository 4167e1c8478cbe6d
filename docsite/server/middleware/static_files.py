"""Static files through WhiteNoise's table, answered without leaving the event loop."""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware


class StaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise's own middleware is synchronous, and would push every page through two thread switches."""

    sync_capable = False
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> None:
        super().__init__(get_response)
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve the file of this path, or go on."""
        file = self.find_file(request.path_info) if self.autorefresh else self.files.get(request.path_info)
        if file is None:
            response: HttpResponseBase = await self.get_response(request)
            return response
        tag = request.META.get("HTTP_IF_NONE_MATCH", "")  # weak where the answer was compressed
        found: Any = file.get_response(request.method, {**request.META, "HTTP_IF_NONE_MATCH": tag.removeprefix("W/")})
        content = b""
        if found.file is not None:
            with found.file:
                content = found.file.read()  # a few kB, in the page cache of the system
        answer = HttpResponse(content, status=int(found.status))
        del answer["Content-Type"]
        for name, value in found.headers:
            answer[name] = value
        if found.file is not None:
            answer["Content-Length"] = str(len(content))  # the file may have changed since the service began
        return answer
