"""Send pages and their files as gzip, to clients that accept it."""

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class Compression(GZipMiddleware):
    """Django's middleware, but in the event loop, because compressing a page takes only about a millisecond.

    Streamed responses are not compressed.
    """

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        """Respond. Compresses the response if that makes it smaller."""
        answer: Any = self.get_response(request)
        response: HttpResponseBase = await answer
        return response if response.streaming else self.process_response(request, response)
