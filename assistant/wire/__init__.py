"""Events to text, one module for each protocol. Encoders hold no rules of their own.

An encoder turns one answer's events into chunks, each whole by itself: lines
of v1, one part of v2. What a door keeps for readers who come back are these.
"""

import json
from typing import Any

from search.hits import Hit

_json = json.JSONEncoder(allow_nan=False, separators=(",", ":"))  # made once: `json.dumps` would make one for each call


def compact(value: Any) -> str:
    """Strict JSON in ASCII, without spaces: a NaN would end the client's stream, a surrogate the encoding."""
    return _json.encode(value)


def tool_result(hits: list[Hit]) -> list[dict[str, Any]]:
    """The hits as the `search` tool's result: a plain array, kept short because clients send it back every turn."""
    return [
        {
            "content": hit.excerpt,
            "path": hit.path,
            "url": hit.url,
            "metadata": {"title": hit.title, "section": hit.section, "score": hit.score},
        }
        for hit in hits
    ]
