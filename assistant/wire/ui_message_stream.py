"""AI SDK v5 UI message stream: JSON objects as server-sent events (ai-sdk.dev, "UI Message Stream Protocol").

It sends only keys that every release of the clients knows. Older releases
refuse a whole message for one unknown key.
"""

from typing import Any

from assistant import events
from assistant.events import Event
from assistant.wire.protocol import StreamProtocol, to_json, tool_result

TEXT_ID = "txt_1"
_DELTA = f'{{"type":"text-delta","id":"{TEXT_ID}","delta":'  # nearly all events are text: no dict for each


class Encoder:
    """Encodes each event as JSON objects: two steps (search, text), then `finish` or `error`."""

    def __init__(self) -> None:
        self._metadata: dict[str, Any] = {}
        self._text_open = False

    def encode(self, event: Event) -> list[str]:
        """The parts of one event."""
        if isinstance(event, events.Text):
            delta = f"{_DELTA}{to_json(event.delta)}}}"
            if self._text_open:
                return [delta]
            self._text_open = True
            return [to_json({"type": "text-start", "id": TEXT_ID}), delta]
        return [to_json(part) for part in self._parts(event)]

    def _parts(self, event: Event) -> list[dict[str, Any]]:
        match event:
            case events.Start():
                self._metadata = {"threadId": event.thread_id}
                return [
                    {"type": "start", "messageId": event.message_id, "messageMetadata": self._metadata},
                    {"type": "data-thread", "data": self._metadata, "transient": True},
                    {"type": "start-step"},
                ]
            case events.SearchCall():
                call = {"toolCallId": event.call_id, "toolName": "search", "providerExecuted": True}
                return [
                    {"type": "tool-input-start", **call},
                    {"type": "tool-input-available", **call, "input": {"query": event.query}},
                ]
            case events.SearchResult():
                output = {"toolCallId": event.call_id, "output": tool_result(event.excerpts)}
                return [
                    {"type": "tool-output-available", **output, "providerExecuted": True},
                    {"type": "finish-step"},
                    {"type": "start-step"},
                ]
            case events.Status():
                return [{"type": "data-status", "data": event.data(), "transient": True}]
            case events.Source():
                source_id = f"src_{event.number}"
                return [{"type": "source-url", "sourceId": source_id, "url": event.url, "title": event.title}]
            case events.Failure():
                return [{"type": "error", "errorText": event.sentence}]
            case events.Abort():
                return [{"type": "abort"}, self._finish()]
            case events.Finish():
                text_end = [{"type": "text-end", "id": TEXT_ID}] if self._text_open else []
                return [*text_end, {"type": "finish-step"}, self._finish()]
        raise TypeError(f"This event has no encoding: {event!r}")

    def _finish(self) -> dict[str, Any]:
        return {"type": "finish", "messageMetadata": self._metadata}


def _frame(part: str) -> bytes:
    return f"data: {part}\n\n".encode()


PROTOCOL = StreamProtocol(
    encoder=Encoder,
    description=(
        "UI message stream of AI SDK v5 and later. For a body without `trigger`, two parts differ:"
        " `finish` and `tool-output-available`."
    ),
    headers={"Content-Type": "text/event-stream", "x-vercel-ai-ui-message-stream": "v1"},
    frame=_frame,
    keep_alive=b": keep-alive\n\n",
    end=b"data: [DONE]\n\n",
)
