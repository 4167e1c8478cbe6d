"""`/discovery/{protocol}/assistant`: ask in every HTTP stream protocol; resume, stop and forget."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from functools import partial

from django.http import HttpRequest, HttpResponse
from ninja import Router

from assistant.answering.owner_settings import to_answer_settings
from assistant.answering.passage_search import find
from assistant.answering.pipeline import SORRY
from assistant.answering.question import Question
from assistant.answering.quoting.extractive import find_sure_sentence
from assistant.asking.askers import identify_asker
from assistant.asking.erasure import forget_conversation
from assistant.asking.rate_limits import assistant_charges
from assistant.asking.schemas import Ask, AskV2, Forget, PreviewIn, PreviewOut, Stop
from assistant.asking.start import start_answer
from assistant.improving.question_groups.pins import find_pin
from assistant.models import AssistantSettings, Message
from assistant.running_answers.resume import RemoteAnswer, find_chat, find_message
from assistant.running_answers.running import RunningAnswer
from assistant.wire import PROTOCOLS
from assistant.wire.events import END_EVENTS, Event, Failure
from assistant.wire.protocol import StreamProtocol
from docsite.core.access.api_middleware import own_origin
from docsite.core.access.readers import narrow, set_reader_groups
from docsite.core.access.request_checks import AssistantKey, CallerRequest
from docsite.core.db import SEARCHES, in_db
from docsite.core.http.streams import PieceResponse, find_connection
from docsite.core.tenants.models import Project
from search.hits import Filters, Hit
from search.limits import search_charges

logger = logging.getLogger(__name__)

BODIES: dict[str, type[Ask]] = {"v1": Ask, "v2": AskV2}
MIN_STREAM_SECONDS = 0.2  # from the start of a resumable answer to its end

routers = {name: Router() for name, protocol in PROTOCOLS.items() if protocol.media_type}
router, router_v2 = routers["v1"], routers["v2"]


def _stream(protocol: StreamProtocol, description: str) -> dict[str, object]:
    content = {protocol.media_type: {"schema": {"type": "string"}}}
    return {"responses": {200: {"description": description, "content": content}}}


def _choose_form(request: HttpRequest, body: Ask, protocol: StreamProtocol) -> StreamProtocol:
    """The form of a protocol that a client reads."""
    if not protocol.without_trigger or (isinstance(body, AskV2) and body.trigger is not None):
        return protocol
    names_json = any((kind.main_type, kind.sub_type) == ("application", "json") for kind in request.accepted_types)
    return protocol.without_trigger[names_json]


def _add_message_endpoint(name: str) -> None:
    """Let clients ask in a protocol."""
    protocol = PROTOCOLS[name]
    schema = BODIES[protocol.body]

    async def message(request: CallerRequest, domain: str, payload: Ask) -> PieceResponse:
        caller = Message.Caller.WEB if request.headers.get("Origin") else Message.Caller.API
        question = payload.to_question(request.auth, _origin(request), caller)
        answer = await start_answer(request.auth.project, question)
        return _AnswerStream(answer, _choose_form(request, payload, protocol), request).respond()

    message.__annotations__["payload"] = schema  # Ninja describes it so
    routers[name].post(
        "/{domain}/message",
        auth=AssistantKey(assistant_charges, schema),
        summary="Ask a question, stream the answer",
        description=f"Answer a question from the documentation. {protocol.description}",
        operation_id=f"ask{name.upper()}",
        deprecated=protocol.deprecated or None,
        openapi_extra=_stream(protocol, protocol.description),
    )(message)


for _name in routers:
    _add_message_endpoint(_name)


@router_v2.get(
    "/{domain}/message/{path:chatId}/stream",
    auth=AssistantKey(assistant_charges, counted=False),
    operation_id="resumeAnswer",
    summary="Resume a running answer",
    response={204: None},
    openapi_extra=_stream(PROTOCOLS["v2"], "The answer of that chat from its first event."),
)
async def resume_v2(request: CallerRequest, domain: str, chatId: str) -> HttpResponse | PieceResponse:
    """Stream the running answer of a chat from its beginning; 204 if this reader has none."""
    asker = identify_asker(request.auth, "", _origin(request), chatId)
    answer = await find_chat(asker)
    if answer is None:
        return HttpResponse(status=204)
    return _AnswerStream(answer, PROTOCOLS["v2"], request).respond()


@router_v2.post(
    "/{domain}/stop",
    auth=AssistantKey(assistant_charges, Stop, counted=False),
    operation_id="stopAnswer",
    summary="End a running answer",
    response={204: None},
)
async def stop(request: CallerRequest, domain: str, payload: Stop) -> HttpResponse:
    """End a reader's running answer, and store its text so far. The response is the same if none runs."""
    asker = identify_asker(request.auth, payload.fp, _origin(request))
    answer = await find_message(asker, payload.threadId, payload.messageId)
    if answer:
        answer.stop()
    if isinstance(answer, RunningAnswer):
        await answer.wait_until_stored()  # so that the next question has it in its history
    return HttpResponse(status=204)


@router.post(
    "/{domain}/preview",
    auth=AssistantKey(search_charges, PreviewIn),
    operation_id="previewAnswer",
    summary="Get the sentence that answers a question",
    response=PreviewOut,
)
async def preview(request: CallerRequest, domain: str, payload: PreviewIn) -> PreviewOut:
    """The sentence that answers, where that is sure. It is charged as a search, asks no model, and stores nothing."""
    set_reader_groups(narrow(payload.filter.groups if payload.filter else None))
    filters = payload.filter.to_filters() if payload.filter else Filters()
    found = await in_db(_find_preview, SEARCHES)(request.auth.project, payload.question.strip(), filters)
    return PreviewOut(sentence=found[1], title=found[0].title, url=found[0].url) if found else PreviewOut()


def _find_preview(project: Project, text: str, filters: Filters) -> tuple[Hit, str] | None:
    """The passage and the sentence that surely answer a question. None also where the owner has pinned an answer."""
    if find_pin(project, text, filters):
        return None
    question = Question(text, filters=filters, settings=to_answer_settings(AssistantSettings.for_project(project)))
    return find_sure_sentence(question, find(project, question, uses_meaning=False))


@router.post(
    "/{domain}/forget",
    auth=AssistantKey(assistant_charges, Forget, counted=False),
    operation_id="forgetConversation",
    summary="Delete a conversation",
    response={204: None},
)
async def forget(request: CallerRequest, domain: str, payload: Forget) -> HttpResponse:
    """Delete a reader's conversation; the response is the same when there is none."""
    await forget_conversation(request.auth.project, payload.fp, payload.threadId)
    return HttpResponse(status=204)


class _AnswerStream:
    """The life of a response: an answer on its way to one reader, from its first event to the end of the body.

    While the server waits for the next chunk, an event is pushed to the connection, if that takes it. The last one, and
    what is not pushed, is a chunk of the body.
    """

    def __init__(self, answer: RunningAnswer | RemoteAnswer, protocol: StreamProtocol, request: HttpRequest) -> None:
        self._answer = answer
        self._protocol = protocol
        self._encoder = protocol.encoder()
        self._connection = find_connection(request.scope)  # type: ignore[attr-defined]  # of Django's ASGIRequest

    def respond(self) -> PieceResponse:
        """The response, which streams."""
        return PieceResponse(self._chunks(), {**self._protocol.headers, "X-Thread-Id": self._answer.thread_id})

    async def _chunks(self) -> AsyncGenerator[bytes, None]:
        """The body: one chunk for each event. Never raises: Daphne would never end the response.

        If all bytes are sent at once, TCP may report delivery although the reader has left. So the end of a resumable
        answer waits until a moment after its start. By then the server knows whether the reader has left and may
        resume the answer.
        """
        loop = asyncio.get_running_loop()
        earliest_end = loop.time() + (MIN_STREAM_SECONDS if self._answer.resumable else 0)
        try:
            async with aclosing(self._answer.subscribe(self._connection.is_delivered, self._push)) as events:
                async for event in events:
                    if event is None:
                        yield self._protocol.keep_alive
                        continue
                    if isinstance(event, END_EVENTS) and (seconds := earliest_end - loop.time()) > 0:
                        await asyncio.sleep(seconds)
                    yield b"".join(self._encode(event))
        except Exception:  # the task boundary
            logger.exception("Answer %s could not be encoded.", self._answer.message_id)
            yield b"".join(self._encode(Failure(SORRY)))
        if self._protocol.end:
            yield self._protocol.end

    def _push(self, event: Event) -> bool:
        return self._connection.send_now(partial(self._encode, event))

    def _encode(self, event: Event) -> Iterator[bytes]:
        return map(self._protocol.frame, self._encoder.encode(event))


def _origin(request: HttpRequest) -> str:
    """The page's origin. Browsers send none where it is the service's own."""
    return request.headers.get("Origin") or own_origin(request)
