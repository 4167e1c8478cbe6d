"""Pages and their files as gzip, for clients that take it."""

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class Compression(GZipMiddleware):
    """Django's own middleware, without its way through another thread: a page takes about a millisecond.

    What is streamed goes out as it comes.
    """

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, compressed where that helps."""
        answer: Any = self.get_response(request)
        response: HttpResponseBase = await answer
        return response if response.streaming else self.process_response(request, response)
