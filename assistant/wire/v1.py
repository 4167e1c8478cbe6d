"""AI SDK v4 data stream: `CODE:JSON` lines (ai-sdk.dev, "Data Stream Protocol").

The thread id goes out on every channel that some client reads: the header (set
by the endpoint), a `2` part, an `8` part, and extra keys of the `d` line.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from assistant import events
from assistant.events import Event
from assistant.wire import compact, tool_result

HEADERS = {"Content-Type": "text/plain; charset=utf-8", "x-vercel-ai-data-stream": "v1"}
KEEP_ALIVE = b"\n"  # a comment, as in server-sent events, would break the client


def _line(code: str, value: Any) -> str:
    return f"{code}:{compact(value)}\n"


async def encode(stream: AsyncGenerator[Event, None]) -> AsyncGenerator[str, None]:
    """One chunk of whole lines for each event.

    Search and text are two steps under one message id: in one step, a client
    with `maxSteps` would take the tool call for its own and ask again.
    """
    message_id = thread_id = ""
    async with aclosing(stream) as items:
        async for event in items:
            match event:
                case events.Text():
                    yield _line("0", event.delta)
                case events.Start():
                    message_id, thread_id = event.message_id, event.thread_id
                    yield _line("f", {"messageId": message_id})
                case events.Searching():
                    call = {"toolCallId": event.call_id, "toolName": "search", "args": {"query": event.query}}
                    yield _line("9", call)
                case events.Found():
                    yield (
                        _line("a", {"toolCallId": event.call_id, "result": tool_result(event.hits)})
                        + _line("e", {"finishReason": "tool-calls", "usage": _usage(), "isContinued": False})
                        + _line("f", {"messageId": message_id})
                    )
                case events.Status():
                    yield _line("2", [{"type": "status", **event.data()}])
                case events.Source():
                    source = {
                        "sourceType": "url",
                        "id": f"src_{event.number}",
                        "url": event.url,
                        "title": event.title,
                    }
                    yield _line("h", source)
                case events.Failed():
                    yield _line("2", [{"type": "finish", "threadId": thread_id}]) + _line("3", event.sentence)
                case events.Stopped():
                    yield _end(thread_id, events.Finish(reason="other"))
                case events.Finish():
                    yield _end(thread_id, event)


def _end(thread_id: str, finish: events.Finish) -> str:
    told = [{"type": "finish", "threadId": thread_id}]
    end = {"finishReason": finish.reason, "usage": _usage(finish.prompt_tokens, finish.completion_tokens)}
    return (
        _line("8", told)
        + _line("2", told)
        + _line("e", {**end, "isContinued": False})
        + _line("d", {"type": "finish", **end, "threadId": thread_id})
    )


def _usage(prompt: int = 0, completion: int = 0) -> dict[str, int]:
    return {"promptTokens": prompt, "completionTokens": completion}
