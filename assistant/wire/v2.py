"""AI SDK v5 UI message stream: one JSON object for each event (ai-sdk.dev, "UI Message Stream Protocol").

Only keys that every release of the clients knows: older ones refuse a whole
message for one key too many.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from assistant import events
from assistant.events import Event
from assistant.wire import tool_result

Part = dict[str, Any]
TEXT_ID = "txt_1"


async def encode(stream: AsyncGenerator[Event, None]) -> AsyncGenerator[Part, None]:
    """The parts of an answer, in two steps (search, text), ending with `finish` or `error`."""
    metadata: Part = {}
    text_open = False
    async with aclosing(stream) as items:
        async for event in items:
            match event:
                case events.Start():
                    metadata = {"threadId": event.thread_id}
                    yield {"type": "start", "messageId": event.message_id, "messageMetadata": metadata}
                    yield {"type": "data-thread", "data": metadata, "transient": True}
                    yield {"type": "start-step"}
                case events.Searching():
                    call = {"toolCallId": event.call_id, "toolName": "search", "providerExecuted": True}
                    yield {"type": "tool-input-start", **call}
                    yield {"type": "tool-input-available", **call, "input": {"query": event.query}}
                case events.Found():
                    yield {
                        "type": "tool-output-available",
                        "toolCallId": event.call_id,
                        "output": tool_result(event.hits),
                        "providerExecuted": True,
                    }
                    yield {"type": "finish-step"}
                    yield {"type": "start-step"}
                case events.Status():
                    yield {"type": "data-status", "data": event.data(), "transient": True}
                case events.Source():
                    yield {
                        "type": "source-url",
                        "sourceId": f"src_{event.number}",
                        "url": event.url,
                        "title": event.title,
                    }
                case events.Text():
                    if not text_open:
                        text_open = True
                        yield {"type": "text-start", "id": TEXT_ID}
                    yield {"type": "text-delta", "id": TEXT_ID, "delta": event.delta}
                case events.Failed():
                    yield {"type": "error", "errorText": event.sentence}
                case events.Finish():
                    if text_open:
                        yield {"type": "text-end", "id": TEXT_ID}
                    yield {"type": "finish-step"}
                    yield {"type": "finish", "messageMetadata": metadata}
