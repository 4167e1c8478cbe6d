"""The WebSocket of the widget: the same answers as over HTTP, each part as one JSON message."""

import asyncio
import contextlib
import re
from dataclasses import dataclass, replace
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from pydantic import BaseModel

from assistant.asking.askers import identify_asker
from assistant.asking.rate_limits import assistant_charges
from assistant.asking.schemas import AskV2, Resume
from assistant.asking.start import start_answer
from assistant.models import Message
from assistant.running_answers.resume import RemoteAnswer, find_message
from assistant.running_answers.running import RunningAnswer
from assistant.wire import PROTOCOLS
from assistant.wire.events import END_EVENTS, Event
from assistant.wire.socket import encode_error
from docsite.core.access import api_middleware, authentication, origins
from docsite.core.access.authentication import Caller
from docsite.core.access.reader_tokens import find_groups
from docsite.core.access.readers import set_reader_groups
from docsite.core.db import in_db
from docsite.core.http import body, cpu_time, open_sockets, ratelimit
from docsite.core.http.errors import (
    ApiError,
    BadRequest,
    NotFound,
    Unauthorized,
)
from docsite.core.http.streams import find_connection

FIRST_MESSAGE_SECONDS = 10.0
IDLE_SECONDS = 300.0  # after the end of an answer, until the socket is closed
MAX_MESSAGE_SIZE = 2 * 1024 * 1024
SMALL_MESSAGE = 4096  # bytes. A larger message is parsed only if the key in its text is valid
IDLE, NOT_TEXT, TOO_LARGE = 4008, 4003, 4009  # close codes

_KEY = re.compile(r'"key"\s{0,9}:\s{0,9}"(\w{1,100})"', re.ASCII)


class AssistantSocket(AsyncWebsocketConsumer):
    """One reader's connection. One answer at a time; the socket stays open for the next question."""

    sending: asyncio.Task[None] | None = None
    answer: RunningAnswer | RemoteAnswer | None = None
    timer: asyncio.TimerHandle | None = None  # closes the socket unless an answer begins before

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one connection. It counts for its address until its end, whatever ends it."""
        self.address, self.network = open_sockets.client_network(scope)
        cpu_time.measure(self.network)
        with open_sockets.count_socket(self.network) as self.has_too_many_sockets:
            await super().__call__(scope, receive, send)

    async def connect(self) -> None:
        """Accept pages on allowed origins. Other connections are refused before they open (403).

        So is a connection from an address that has too many open.
        """
        self.domain = self.scope["url_route"]["kwargs"]["domain"]
        if self.has_too_many_sockets or not await self._is_allowed():
            await self.close()
            return
        await self.accept()
        self._close_after(FIRST_MESSAGE_SECONDS)

    async def disconnect(self, code: int) -> None:
        """Stop sending. The answer runs on for a while, since the reader may resume it."""
        self._stop_timer()
        if self.sending:
            self.sending.cancel()

    def _stop_timer(self) -> None:
        if self.timer:
            self.timer.cancel()

    def _close_after(self, seconds: float) -> None:
        self._stop_timer()
        self.timer = asyncio.get_running_loop().call_later(seconds, lambda: asyncio.ensure_future(self.close(IDLE)))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Handle one message of the reader."""
        if text_data is None:
            await self.close(NOT_TEXT)
            return
        raw = text_data.encode("utf-8", "surrogatepass")
        if len(raw) > MAX_MESSAGE_SIZE:
            await self.close(TOO_LARGE)
            return
        try:
            message = _parse(raw) if len(raw) <= SMALL_MESSAGE else await self._parse_large(text_data, raw)
            if message.type == "stop":
                self._stop()
            elif message.type == "resume":
                await self._resume(message)
            else:
                await self._ask(message)
        except Exception as failure:  # the task boundary: the socket outlives a failed message
            await self._refuse(api_middleware.as_api_error(failure))

    async def _parse_large(self, text: str, raw: bytes) -> "_ClientMessage":
        """Check the key of a large message, then parse it in another thread."""
        key = _KEY.search(text)
        if key is None:
            raise Unauthorized(sent=False)

        await in_db(authentication.assistant_caller)(key[1], self.domain, self.address)
        self._stop_timer()  # others may be parsed before
        try:
            return await body.parse_large(lambda: _parse(raw))
        finally:
            if self.answer is None:
                self._close_after(FIRST_MESSAGE_SECONDS)

    async def _ask(self, message: "_ClientMessage") -> None:
        caller = await self._admit(message, counted=True)
        assert isinstance(message.payload, AskV2)
        question = replace(message.payload.to_question(caller, self.origin, Message.Caller.WEB), resumable=True)
        self._send_answer(await start_answer(caller.project, question))

    async def _resume(self, message: "_ClientMessage") -> None:
        caller = await self._admit(message, counted=False)
        position = message.payload
        assert isinstance(position, Resume)
        asker = identify_asker(caller, position.fp, self.origin)
        answer = await find_message(asker, position.threadId, position.messageId)
        if answer is None or not asker.may_read(answer.asker):
            raise NotFound("This answer can no longer be resumed.")
        self._send_answer(answer, position.after)

    def _stop(self) -> None:
        if self.answer:
            self.answer.stop()

    async def _admit(self, message: "_ClientMessage", *, counted: bool) -> Caller:
        """The caller, by the key in the message. Raises `ApiError`, also if an answer is running on this socket.

        An invalid message counts, too.
        """
        if self.sending and not self.sending.done():
            raise ApiError(409, "An answer is still running.")
        token = message.key
        if not isinstance(token, str) or not token:
            raise Unauthorized(sent=False)

        def admit() -> tuple[Caller, list[ratelimit.Usage]]:
            caller = authentication.assistant_caller(token, self.domain, self.address)
            caller = replace(caller, groups=find_groups(caller.project, message.reader_token))
            if not counted:
                return caller, []
            cpu_time.charge(self.network)
            return caller, ratelimit.spend(*assistant_charges(caller))

        caller, usages = await in_db(admit)()
        set_reader_groups(caller.groups)
        if seconds := ratelimit.compute_delay(usages):
            await asyncio.sleep(seconds)
        if isinstance(message.payload, BadRequest):
            raise message.payload
        return caller

    def _send_answer(self, answer: RunningAnswer | RemoteAnswer, after: int = 0) -> None:
        self._stop_timer()
        self.answer = answer
        self.sending = asyncio.create_task(self._send_parts(answer, after))

    async def _send_parts(self, answer: RunningAnswer | RemoteAnswer, after: int) -> None:
        """Send the parts after the first `after` ones, which the client has. It always gets the last part."""
        encoder, to_skip = PROTOCOLS["socket"].encoder(), after
        send_now = find_connection(self.scope).send_now

        def push(event: Event) -> bool:
            return not to_skip and send_now(lambda: map(str.encode, encoder.encode(event)))

        try:
            async with contextlib.aclosing(answer.subscribe(push=push)) as events:
                async for event in events:
                    if event is None:
                        continue  # the server's own pings keep a socket alive
                    parts = encoder.encode(event)
                    new_parts = parts[to_skip:]
                    if not new_parts and isinstance(event, END_EVENTS):
                        new_parts = parts[-1:]
                    to_skip = max(0, to_skip - len(parts))
                    for part in new_parts:
                        await self.send(text_data=part)
        except Exception as failure:  # the boundary of this task
            await self._refuse(api_middleware.as_api_error(failure))
        finally:
            self.answer = None
        self._close_after(IDLE_SECONDS)

    async def _refuse(self, error: ApiError) -> None:
        text = " ".join([error.sentence, *(f"{wrong}." for wrong in error.details)])
        retry_after = error.headers.get("Retry-After")
        await self.send(text_data=encode_error(text, error.status, int(retry_after) if retry_after else None))

    @property
    def origin(self) -> str:
        """The origin of the page; the origin of the service if the client sends none."""
        return open_sockets.header(self.scope, b"origin") or open_sockets.own_origin(self.scope)

    async def _is_allowed(self) -> bool:
        if not open_sockets.has_valid_host(self.scope):
            return False
        if self.origin == open_sockets.own_origin(self.scope):
            return True
        return await origins.allows_origin(self.domain, open_sockets.header(self.scope, b"origin"))


@dataclass(frozen=True)
class _ClientMessage:
    """A message of a client. An error about its fields is raised later: that about its key comes first."""

    type: str
    key: Any
    reader_token: str | None
    payload: BaseModel | BadRequest | None


SCHEMAS: dict[str, type[BaseModel] | None] = {"ask": AskV2, "resume": Resume, "stop": None}  # by the type of a message


def _parse(raw: bytes) -> _ClientMessage:
    fields = body.parse_object(raw)
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in SCHEMAS:
        raise BadRequest("type: must be ask, stop or resume")
    reader_token = fields.get("readerToken")
    if reader_token is not None and not isinstance(reader_token, str):
        raise BadRequest("readerToken: must be text")
    schema = SCHEMAS[kind]
    payload: BaseModel | BadRequest | None
    try:
        payload = body.validate(schema, fields) if schema else None
    except BadRequest as wrong:
        payload = wrong.with_traceback(None)  # which would keep the fields in memory
    return _ClientMessage(kind, fields.get("key"), reader_token, payload)
