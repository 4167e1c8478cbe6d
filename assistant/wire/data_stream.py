"""AI SDK v4 data stream: `CODE:JSON` lines (ai-sdk.dev, "Data Stream Protocol").

Clients read the thread id in different places. So it is sent in the header (by
the endpoint), in a `2` part, in an `8` part, and in extra keys of the `d` line.
"""

from typing import Any

from assistant.wire import events
from assistant.wire.events import Event
from assistant.wire.protocol import StreamProtocol, text_to_json, to_json, tool_result


class Encoder:
    """Encodes each event as whole lines.

    Each tool call ends a step; the text after it is another step under the same message id. In one
    step, a client with `maxSteps` would answer the tool call itself, by another request.
    """

    def __init__(self) -> None:
        self._message_id = self._thread_id = ""

    def encode(self, event: Event) -> list[str]:
        """The lines of one event."""
        match event:
            case events.Text():
                return [f"0:{text_to_json(event.delta)}\n"]
            case events.Start():
                self._message_id, self._thread_id = event.message_id, event.thread_id
                return [self._step()]
            case events.ToolCall():
                return [_line("9", {"toolCallId": event.call_id, "toolName": event.name, "args": event.input})]
            case events.ToolResult():
                return [
                    _line("a", {"toolCallId": event.call_id, "result": tool_result(event.excerpts)}),
                    _line("e", {"finishReason": "tool-calls", "usage": _usage(), "isContinued": False}),
                    self._step(),
                ]
            case events.Status():
                return [_line("2", [{"type": "status", **event.data()}])]
            case events.Source():
                source_id = f"src_{event.number}"
                return [_line("h", {"sourceType": "url", "id": source_id, "url": event.url, "title": event.title})]
            case events.Failure():
                return [_line("2", [self._finish()]), _line("3", event.sentence)]
            case events.Abort():
                return self._end(events.Finish(reason="other"))
            case events.Finish():
                return self._end(event)

    def _step(self) -> str:
        return _line("f", {"messageId": self._message_id})

    def _finish(self) -> dict[str, str]:
        return {"type": "finish", "threadId": self._thread_id}

    def _end(self, event: events.Finish) -> list[str]:
        end = {"finishReason": event.reason, "usage": _usage(event.prompt_tokens, event.completion_tokens)}
        return [
            _line("8", [self._finish()]),
            _line("2", [self._finish()]),
            _line("e", {**end, "isContinued": False}),
            _line("d", {"type": "finish", **end, "threadId": self._thread_id}),
        ]


def _line(code: str, value: Any) -> str:
    return f"{code}:{to_json(value)}\n"


def _usage(prompt: int = 0, completion: int = 0) -> dict[str, int]:
    return {"promptTokens": prompt, "completionTokens": completion}


PROTOCOL = StreamProtocol(
    encoder=Encoder,
    description="AI SDK v4 data stream. `X-Thread-Id` names the conversation.",
    headers={"Content-Type": "text/plain; charset=utf-8", "x-vercel-ai-data-stream": "v1"},
    deprecated=True,
    body="v1",
    keep_alive=b"\n",  # a comment, as in server-sent events, would break the client
)
