"""Streamed responses that no proxy buffers."""

from collections.abc import AsyncIterator, Mapping

from django.http import StreamingHttpResponse


def streaming_response(chunks: AsyncIterator[bytes], headers: Mapping[str, str]) -> StreamingHttpResponse:
    """A response that sends each chunk at once. The iterator must not raise: the client would wait forever."""
    return StreamingHttpResponse(
        chunks,
        headers={
            **headers,
            "Cache-Control": "no-store, no-transform",
            "X-Accel-Buffering": "no",  # nginx
            "Content-Encoding": "identity",  # keeps compressing middleware off
        },
    )
