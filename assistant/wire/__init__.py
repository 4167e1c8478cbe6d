"""Events to bytes, one module for each protocol. Encoders hold no rules of their own."""

from typing import Any

from search.hits import Hit


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
