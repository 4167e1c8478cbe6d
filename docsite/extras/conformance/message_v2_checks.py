"""Checks of the message endpoint v2, which streams the UI message stream of the AI SDK v5 and later."""

from typing import Any

import httpx

from docsite.extras.conformance.service import Check, Service, Violation, expect, parse_json

# Some releases refuse a whole message for a key that is not listed here: required keys, then optional ones.
KEYS: dict[str, tuple[str, str]] = {
    "start": ("", "messageId messageMetadata"),
    "start-step": ("", ""),
    "finish-step": ("", ""),
    "text-start": ("id", ""),
    "text-end": ("id", ""),
    "text-delta": ("id delta", ""),
    "reasoning-start": ("id", ""),
    "reasoning-end": ("id", ""),
    "reasoning-delta": ("id delta", ""),
    "tool-input-start": ("toolCallId toolName", "providerExecuted"),
    "tool-input-delta": ("toolCallId inputTextDelta", ""),
    "tool-input-available": ("toolCallId toolName input", "providerExecuted"),
    "tool-output-available": ("toolCallId output", "providerExecuted"),
    "tool-output-error": ("toolCallId errorText", "providerExecuted"),
    "source-url": ("sourceId url", "title"),
    "message-metadata": ("messageMetadata", ""),
    "error": ("errorText", ""),
    "abort": ("", ""),
    "finish": ("", "messageMetadata"),
}
DATA_KEYS = ("data", "id transient")


def check_headers(service: Service) -> None:
    """The stream is server-sent events, marked as a UI message stream, with the thread id in `X-Thread-Id`"""
    headers = service.ask("v2").headers
    expect(headers.get("content-type", "").startswith("text/event-stream"), f"type {headers.get('content-type')}")
    expect(headers.get("x-vercel-ai-ui-message-stream") == "v1", "no header x-vercel-ai-ui-message-stream: v1")
    expect(headers.get("x-thread-id"), "no header X-Thread-Id")


def check_events(service: Service) -> None:
    """Each event is of a known type and has only its keys; the first is `start`, the last `finish`, then `[DONE]`"""
    response = service.ask("v2")
    found = read_events(response)
    expect(found[0]["type"] == "start", f"the first event is {found[0]['type']}")
    expect(found[-1]["type"] == "finish", f"the last event is {found[-1]['type']}")
    expect(response.text.rstrip().endswith("data: [DONE]"), "no [DONE] at the end")
    for event in found:
        kind = event["type"]
        expect(kind in KEYS or kind.startswith("data-"), f"unknown type {kind}")
        required, optional = (set(keys.split()) for keys in KEYS.get(kind, DATA_KEYS))
        expect(required <= event.keys(), f"{kind} lacks {sorted(required - event.keys())}")
        unknown = event.keys() - required - optional - {"type"}
        expect(not unknown, f"{kind} has {sorted(unknown)}, which strict clients refuse")


def check_text(service: Service) -> None:
    """Text comes between `text-start` and `text-end` of its id, within one step"""
    open_texts: set[str] = set()
    text = ""
    for event in read_events(service.ask("v2")):
        kind = event["type"]
        if kind == "text-start":
            open_texts.add(event["id"])
        elif kind in ("text-delta", "text-end"):
            expect(event["id"] in open_texts, f"{kind} for a text that is not open")
            text += event.get("delta", "")
            if kind == "text-end":
                open_texts.remove(event["id"])
        elif kind == "finish-step":
            expect(not open_texts, "a step ends while a text is open")
    expect(text.strip(), "the text is empty")


def check_search(service: Service) -> None:
    """A search is a tool part that the server executed, with an array as output"""
    events = {event["type"]: event for event in reversed(read_events(service.ask("v2")))}
    call = events.get("tool-input-available", {})
    expect(call.get("toolName") == "search" and isinstance(call.get("input"), dict), f"the call is {call}")
    expect(call.get("providerExecuted") is True, "without providerExecuted, clients would call the tool themselves")
    expect(isinstance(events.get("tool-output-available", {}).get("output"), list), "the output is no array")


def check_thread_id(service: Service) -> None:
    """The thread id is in the metadata of `start` and `finish`, and in the data part `data-thread`"""
    response = service.ask("v2")
    thread, events = response.headers.get("x-thread-id"), read_events(response)
    for event in (events[0], events[-1]):
        metadata = event.get("messageMetadata") or {}
        expect(metadata.get("threadId") == thread, f"no thread id in the metadata of {event['type']}")
    data = [event["data"] for event in events if event["type"] == "data-thread"]
    expect(data and data[0].get("threadId") == thread, "no data-thread with the thread id")


def check_without_trigger(service: Service) -> None:
    """A client that sends no `trigger` gets an object as output of a search; one that names JSON, the id in `finish`"""
    for accept, has_id in (("*/*", False), ("application/json", True)):
        response = service.ask("v2", accept=accept, trigger=None)
        events = read_events(response)
        wanted = response.headers.get("x-thread-id") if has_id else None
        expect(events[-1].get("threadId") == wanted, f"finish has {events[-1].get('threadId')} for Accept: {accept}")
        outputs = [event["output"] for event in events if event["type"] == "tool-output-available"]
        is_object = all(isinstance(output, dict) and isinstance(output.get("results"), list) for output in outputs[:1])
        expect(outputs and is_object, f"the output is {str(outputs)[:80]}")


def check_resume(service: Service) -> None:
    """Resuming a chat without a running answer is 204"""
    address = f"/discovery/v2/assistant/{service.domain}/message/conformance-no-such-chat/stream"
    response = service.client.get(address, headers={"Authorization": f"Bearer {service.key}"})
    expect(response.status_code == 204, f"status {response.status_code}")


def check_forget(service: Service) -> None:
    """A conversation is deleted with 204, also when there is none"""
    thread = service.ask("v2").headers.get("x-thread-id", "")
    for _ in range(2):
        response = service.post("/v1/assistant/{domain}/forget", {"fp": "conformance", "threadId": thread})
        expect(response.status_code == 204, f"status {response.status_code}")
    expect(service.ask("v2", threadId=thread).headers.get("x-thread-id") != thread, "it was continued afterwards")


def read_events(response: httpx.Response) -> list[dict[str, Any]]:
    """The events of a stream, without comments and `[DONE]`."""
    events = []
    for frame in response.text.replace("\r\n", "\n").split("\n\n"):
        data = "\n".join(line[5:].removeprefix(" ") for line in frame.split("\n") if line.startswith("data:"))
        if not data or data == "[DONE]":
            continue
        try:
            event = parse_json(data)
        except ValueError:
            raise Violation(f"no JSON in {data[:80]!r}") from None
        expect(isinstance(event, dict) and isinstance(event.get("type"), str), f"no type in {data[:80]!r}")
        events.append(event)
    errors = [event["errorText"] for event in events if event["type"] == "error"]
    expect(not errors, f"the answer failed: {errors}")
    expect(events, "the stream is empty")
    return events


CHECKS: tuple[Check, ...] = (
    *(check_headers, check_events, check_text, check_search, check_thread_id, check_without_trigger),
    *(check_resume, check_forget),
)
