"""AI SDK v5 UI message stream: JSON objects as server-sent events (ai-sdk.dev, "UI Message Stream Protocol").

It sends only keys that every release of the clients knows, with one exception: `finishReason` of an answer that was
cut. Older releases refuse a whole message for one unknown key.
"""

from typing import Any

from assistant.wire import events
from assistant.wire.events import Event
from assistant.wire.protocol import StreamProtocol, text_to_json, to_json, tool_result


class Encoder:
    """Encodes each event as JSON objects: a step for each tool call, one for the text, then `finish` or `error`."""

    def __init__(self) -> None:
        self._metadata: dict[str, Any] = {}
        self._text_open = False
        self._texts = 0  # text parts so far
        self._delta = ""  # nearly all events are text: no dict for each

    def encode(self, event: Event) -> list[str]:
        """The parts of one event."""
        if isinstance(event, events.Text):
            if self._text_open:
                return [f"{self._delta}{text_to_json(event.delta)}}}"]
            self._text_open, self._texts = True, self._texts + 1
            self._delta = f'{{"type":"text-delta","id":"{self._text_id}","delta":'
            return [to_json({"type": "text-start", "id": self._text_id}), f"{self._delta}{to_json(event.delta)}}}"]
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
            case events.ToolCall():
                call = {"toolCallId": event.call_id, "toolName": event.name, "providerExecuted": True}
                return [
                    *self._end_text(),
                    {"type": "tool-input-start", **call},
                    {"type": "tool-input-available", **call, "input": event.input},
                ]
            case events.ToolResult():
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
                reason = {} if event.reason == "stop" else {"finishReason": event.reason}
                return [*self._end_text(), {"type": "finish-step"}, {**self._finish(), **reason}]
        raise TypeError(f"This event has no encoding: {event!r}")

    @property
    def _text_id(self) -> str:
        return f"txt_{self._texts}"

    def _end_text(self) -> list[dict[str, Any]]:
        """End the text part, if one is open: it must not outlive its step."""
        parts = [{"type": "text-end", "id": self._text_id}] if self._text_open else []
        self._text_open = False
        return parts

    def _finish(self) -> dict[str, Any]:
        return {"type": "finish", "messageMetadata": self._metadata}


PROTOCOL = StreamProtocol(
    encoder=Encoder,
    description=(
        "UI message stream of AI SDK v5 and later. For a body without `trigger`, `tool-output-available` differs,"
        " and `finish` too if `Accept` names `application/json`."
    ),
    headers={"Content-Type": "text/event-stream", "x-vercel-ai-ui-message-stream": "v1"},
    frame=lambda part: f"data: {part}\n\n".encode(),
    keep_alive=b": keep-alive\n\n",
    end=b"data: [DONE]\n\n",
)
