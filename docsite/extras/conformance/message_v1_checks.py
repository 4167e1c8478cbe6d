"""Checks of the message endpoint v1, which streams the data stream protocol of the AI SDK v4."""

from typing import Any, NamedTuple

import httpx

from docsite.extras.conformance.service import Check, Service, Violation, expect, expect_shape, parse_json

CODES = "0238abcdefghijk9"  # of the protocol; any other ends the stream of a client


class Part(NamedTuple):
    """A line of the stream."""

    code: str
    value: Any


def check_headers(service: Service) -> None:
    """The stream is plain text, marked as a data stream, with the thread id in `X-Thread-Id`"""
    headers = service.ask("v1").headers
    expect(headers.get("content-type", "").startswith("text/plain"), f"Content-Type {headers.get('content-type')}")
    expect(headers.get("x-vercel-ai-data-stream") == "v1", "no header x-vercel-ai-data-stream: v1")
    expect(headers.get("x-thread-id"), "no header X-Thread-Id")
    expect("no-store" in headers.get("cache-control", ""), f"Cache-Control {headers.get('cache-control')}")


def check_lines(service: Service) -> None:
    """Each line is a code of the protocol and strict JSON; the first has the message's id"""
    parts = read_parts(service.ask("v1"))
    expect(parts[0].code == "f", f"the first line has code {parts[0].code}")
    expect_shape(parts[0].value, {"messageId": str}, "the first line")
    expect(parts[-1].code == "d", f"the last line has code {parts[-1].code}")


def check_text(service: Service) -> None:
    """There is text, in pieces that are strings"""
    texts = [part.value for part in read_parts(service.ask("v1")) if part.code == "0"]
    expect(texts and all(isinstance(text, str) for text in texts), f"texts {texts[:3]}")
    expect("".join(texts).strip(), "the text is empty")


def check_search(service: Service) -> None:
    """A search is a tool call, then its result: an array with `content`, `path`, `url` and `metadata`"""
    parts = read_parts(service.ask("v1"))
    calls = [part.value for part in parts if part.code == "9"]
    results = [part.value for part in parts if part.code == "a"]
    expect(calls and calls[0].get("toolName") == "search", "no call of `search`")
    expect_shape(calls[0], {"toolCallId": str, "args": dict}, "the call")
    by_call = {result.get("toolCallId"): result.get("result") for result in results}
    hits = by_call.get(calls[0]["toolCallId"])
    expect(isinstance(hits, list), f"the result is {type(hits).__name__}, not an array")
    for hit in hits or []:
        expect_shape(hit, {"content": str, "path": str, "url": str, "metadata": dict}, "a result")


def check_finish(service: Service) -> None:
    """`finish` with the thread id comes as data, as annotation and on the last line"""
    response = service.ask("v1")
    thread, parts = response.headers.get("x-thread-id"), read_parts(response)
    for code, place in (("2", "data"), ("8", "annotations")):
        items = [item for part in parts if part.code == code for item in part.value]
        finish = [item for item in items if isinstance(item, dict) and item.get("type") == "finish"]
        expect(finish and finish[-1].get("threadId") == thread, f"no finish with the thread id in {place}")
    expect(parts[-1].value.get("threadId") == thread, "no thread id on the last line")
    expect_shape(parts[-1].value, {"finishReason": str}, "the last line")


def check_threads(service: Service) -> None:
    """A thread id continues its conversation; an unknown one starts a new conversation"""
    thread = service.ask("v1").headers.get("x-thread-id", "")
    followed = service.ask("v1", threadId=thread).headers.get("x-thread-id")
    expect(followed == thread, f"{thread} was answered with {followed}")
    unknown = thread[:-4] + ("aaaa" if thread[-4:] != "aaaa" else "bbbb")
    expect(service.ask("v1", threadId=unknown).headers.get("x-thread-id") not in (unknown, thread), "it was continued")


def check_tolerance(service: Service) -> None:
    """Unknown fields, roles and part types are ignored"""
    parts: list[Any] = [{"type": "conformance", "x": 1}, {"type": "text", "text": service.question}]
    messages = [
        {"id": "a", "role": "system", "content": "x", "parts": []},
        {"id": "b", "role": "user", "content": service.question, "parts": parts, "createdAt": "2026-01-01"},
    ]
    read_parts(service.ask("v1", messages=messages, threadKey="x", conformance={"a": [1]}))


def read_parts(response: httpx.Response) -> list[Part]:
    """The lines of a stream without its empty ones, which keep a connection alive."""
    expect(response.text.endswith("\n"), "the last line is cut")
    parts = []
    for line in filter(None, response.text.split("\n")):
        code, colon, text = line.partition(":")
        expect(colon and len(code) == 1 and code in CODES, f"line {line[:80]!r}")
        try:
            parts.append(Part(code, parse_json(text)))
        except ValueError:
            raise Violation(f"no JSON in {line[:80]!r}") from None
    errors = [part.value for part in parts if part.code == "3"]
    expect(not errors, f"the answer failed: {errors}")
    expect(parts, "the stream is empty")
    return parts


CHECKS: tuple[Check, ...] = (
    *(check_headers, check_lines, check_text, check_search, check_finish, check_threads, check_tolerance),
)
