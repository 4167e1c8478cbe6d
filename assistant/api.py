"""`/discovery/v1/assistant` and `/discovery/v2/assistant`: ask, resume, stop, forget."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Router

from assistant.limits import assistant_charges
from assistant.models import Message
from assistant.schemas import Ask, AskV2, Forget, Stop
from assistant.sessions import start
from assistant.sessions.resume import Remote, find_chat, find_message
from assistant.sessions.running import Live, Taken, surely
from assistant.sessions.start import Door
from assistant.wire import v1, v2
from docsite.core.access.api_middleware import own_origin
from docsite.core.access.request_checks import AssistantKey, CallerRequest
from docsite.core.http.schemas import responses
from docsite.core.http.streams import streaming_response

UNHURRIED = 0.2  # seconds from the begin of a resumable answer to its end, at least

router = Router()
router_v2 = Router()


def _stream(content_type: str, description: str) -> dict[str, object]:
    content = {content_type: {"schema": {"type": "string"}}}
    return {"responses": {200: {"description": description, "content": content}}}


def _errors(*, bodyless: bool = False) -> dict[int, object]:
    return {status: schema for status, schema in responses(None, bodyless=bodyless).items() if status != 200}


@router.post(
    "/{domain}/message",
    auth=AssistantKey(assistant_charges),
    summary="Ask a question, stream the answer",
    deprecated=True,
    response=_errors(),
    openapi_extra=_stream("text/plain", "AI SDK v4 data stream. `X-Thread-Id` names the conversation."),
)
async def message_v1(request: CallerRequest, domain: str, payload: Ask) -> StreamingHttpResponse:
    """Answer a question from the documentation as an AI SDK v4 data stream."""
    door = Door(_caller(request), _origin(request), v1.encode, keep=False)
    live = await start.ask(request.auth, payload, door)
    return streaming_response(_lines(live), {**v1.HEADERS, "X-Thread-Id": live.thread_id})


@router_v2.post(
    "/{domain}/message",
    auth=AssistantKey(assistant_charges),
    summary="Ask a question, stream the answer",
    response=_errors(),
    openapi_extra=_stream("text/event-stream", "UI message stream of AI SDK v5 and later."),
)
async def message_v2(request: CallerRequest, domain: str, payload: AskV2) -> StreamingHttpResponse:
    """Answer a question from the documentation as a UI message stream, for AI SDK v5 and later."""
    door = Door(_caller(request), _origin(request), v2.encode, payload.resumable)
    live = await start.ask(request.auth, payload, door)
    return _events(live, request)


@router_v2.get(
    "/{domain}/message/{path:chatId}/stream",
    auth=AssistantKey(assistant_charges, counted=False),
    summary="Go on reading a running answer",
    response={204: None, **_errors(bodyless=True)},
    openapi_extra=_stream("text/event-stream", "The answer of that chat from its first event."),
)
async def resume_v2(request: CallerRequest, domain: str, chatId: str) -> HttpResponse | StreamingHttpResponse:
    """Stream the running answer of a chat from its beginning; 204 when there is none of this reader's."""
    asker = start.asker_of(request.auth, "", _origin(request), chatId)
    found = await find_chat(asker)
    if found is None:
        return HttpResponse(status=204)
    return _events(found, request)


@router_v2.post(
    "/{domain}/stop",
    auth=AssistantKey(assistant_charges, counted=False),
    summary="End a running answer",
    response={204: None, **_errors()},
)
async def stop(request: CallerRequest, domain: str, payload: Stop) -> HttpResponse:
    """End a reader's running answer, and keep what there is of it; the answer is the same when none runs."""
    asker = start.asker_of(request.auth, payload.fp, _origin(request), "")
    found = await find_message(asker, payload.threadId, payload.messageId)
    if found:
        found.stop()
    if isinstance(found, Live):
        await found.wait()  # so that a question that follows knows of it
    return HttpResponse(status=204)


@router.post(
    "/{domain}/forget",
    auth=AssistantKey(assistant_charges, counted=False),
    summary="Delete a conversation",
    response={204: None, **_errors()},
)
async def forget(request: CallerRequest, domain: str, payload: Forget) -> HttpResponse:
    """Delete a reader's conversation; the answer is the same when there is none."""
    await start.forget(request.auth.project, payload.fp, payload.threadId)
    return HttpResponse(status=204)


async def _lines(live: Live) -> AsyncGenerator[bytes, None]:
    async with aclosing(live.read()) as chunks:
        async for chunk in chunks:
            yield v1.KEEP_ALIVE if chunk is None else chunk.encode()


def _events(answer: Live | Remote, request: HttpRequest) -> StreamingHttpResponse:
    """The answer as server-sent events.

    A reader who leaves what was sent in one burst seems to have all of it. So the
    end of a resumable answer comes a moment after its begin: who is gone by then
    is known to want it again.
    """

    async def events() -> AsyncGenerator[bytes, None]:
        loop = asyncio.get_running_loop()
        earliest_end = loop.time() + (UNHURRIED if answer.resumable else 0)
        async with aclosing(answer.read(taken=_taken(request))) as parts:
            async for part in parts:
                if part is not None and v2.is_last(part) and (early := earliest_end - loop.time()) > 0:
                    await asyncio.sleep(early)
                yield v2.KEEP_ALIVE if part is None else v2.sse(part)
        yield v2.DONE

    return streaming_response(events(), {**v2.HEADERS, "X-Thread-Id": answer.thread_id})


def _caller(request: HttpRequest) -> Message.Caller:
    return Message.Caller.WEB if request.headers.get("Origin") else Message.Caller.API


def _taken(request: HttpRequest) -> Taken:
    """What the server can tell of the reader's connection, if it is ours (`docsite.server.daphne`)."""
    extensions = request.scope.get("extensions", {})  # type: ignore[attr-defined]  # of Django's ASGIRequest
    taken: Taken = extensions.get("docsite.taken", surely)
    return taken


def _origin(request: HttpRequest) -> str:
    """The page's origin; browsers name none where it is the service's own."""
    return request.headers.get("Origin") or own_origin(request)
