"""AI SDK v5 UI message stream: one JSON object for each event (ai-sdk.dev, "UI Message Stream Protocol").

Only keys that every release of the clients knows: older ones refuse a whole
message for one key too many.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from assistant import events
from assistant.events import Event
from assistant.wire import compact, tool_result

HEADERS = {"Content-Type": "text/event-stream", "x-vercel-ai-ui-message-stream": "v1"}
KEEP_ALIVE = b": keep-alive\n\n"
DONE = b"data: [DONE]\n\n"
TEXT_ID = "txt_1"

_FINISHED = '{"type":"finish",'
_FAILED = '{"type":"error",'


def sse(part: str) -> bytes:
    """A part as a server-sent event."""
    return f"data: {part}\n\n".encode()


def is_last(part: str) -> bool:
    """Whether an answer ends with this part."""
    return part.startswith((_FINISHED, _FAILED))


def failed(part: str) -> bool:
    """Whether a part tells that the answer broke off."""
    return part.startswith(_FAILED)


async def encode(stream: AsyncGenerator[Event, None]) -> AsyncGenerator[str, None]:
    """The parts of an answer as JSON, in two steps (search, text), ending with `finish` or `error`."""
    metadata: dict[str, Any] = {}
    text_open = False
    async with aclosing(stream) as items:
        async for event in items:
            match event:
                case events.Text():
                    if not text_open:
                        text_open = True
                        yield compact({"type": "text-start", "id": TEXT_ID})
                    yield compact({"type": "text-delta", "id": TEXT_ID, "delta": event.delta})
                case events.Start():
                    metadata = {"threadId": event.thread_id}
                    yield compact({"type": "start", "messageId": event.message_id, "messageMetadata": metadata})
                    yield compact({"type": "data-thread", "data": metadata, "transient": True})
                    yield compact({"type": "start-step"})
                case events.Searching():
                    call = {"toolCallId": event.call_id, "toolName": "search", "providerExecuted": True}
                    yield compact({"type": "tool-input-start", **call})
                    yield compact({"type": "tool-input-available", **call, "input": {"query": event.query}})
                case events.Found():
                    output = {"toolCallId": event.call_id, "output": tool_result(event.hits)}
                    yield compact({"type": "tool-output-available", **output, "providerExecuted": True})
                    yield compact({"type": "finish-step"})
                    yield compact({"type": "start-step"})
                case events.Status():
                    yield compact({"type": "data-status", "data": event.data(), "transient": True})
                case events.Source():
                    source = {"sourceId": f"src_{event.number}", "url": event.url, "title": event.title}
                    yield compact({"type": "source-url", **source})
                case events.Failed():
                    yield compact({"type": "error", "errorText": event.sentence})
                case events.Stopped():
                    yield compact({"type": "abort"})
                    yield compact({"type": "finish", "messageMetadata": metadata})
                case events.Finish():
                    if text_open:
                        yield compact({"type": "text-end", "id": TEXT_ID})
                    yield compact({"type": "finish-step"})
                    yield compact({"type": "finish", "messageMetadata": metadata})
