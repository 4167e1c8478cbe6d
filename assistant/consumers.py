"""The widget's socket: the same answer as over HTTP, each event one JSON message."""

import asyncio
import contextlib
import json
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from pydantic import ValidationError

from assistant import doors
from assistant.models import Message
from assistant.schemas import Ask
from assistant.wire import v2
from docsite.db import in_db
from docsite.http import client_ip, ratelimit
from docsite.http.body import parse_object
from docsite.http.errors import ApiError, BadRequest, Unauthorized
from docsite.http.schemas import detail
from docsite.projects import auth, gate
from docsite.projects.auth import Caller
from docsite.projects.guards import assistant_charges

FIRST_MESSAGE_SECONDS = 10.0
LARGEST_MESSAGE = 2 * 1024 * 1024
NO_MESSAGE, NOT_TEXT, TOO_LARGE = 4008, 4003, 4009  # close codes


class AssistantSocket(AsyncWebsocketConsumer):
    """One reader's connection. One answer at a time; the socket stays open for the next question."""

    answer: asyncio.Task[None] | None = None
    patience: asyncio.TimerHandle | None = None

    async def connect(self) -> None:
        """Accept a page of an allowed origin; anything else is refused before it opens (403)."""
        self.domain = self.scope["url_route"]["kwargs"]["domain"]
        if not await self._is_allowed():
            await self.close()
            return
        await self.accept()
        self.patience = asyncio.get_running_loop().call_later(
            FIRST_MESSAGE_SECONDS, lambda: asyncio.ensure_future(self.close(NO_MESSAGE))
        )

    async def disconnect(self, code: int) -> None:
        """The reader left: close the upstream, store what there is."""
        if self.patience:
            self.patience.cancel()
        await self._cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Act on one message of the reader."""
        if text_data is None:
            await self.close(NOT_TEXT)
            return
        if len(text_data) > LARGEST_MESSAGE or len(raw := text_data.encode("utf-8", "surrogatepass")) > LARGEST_MESSAGE:
            await self.close(TOO_LARGE)
            return
        try:
            message = parse_object(raw)
            act = {"ask": self._ask, "stop": self._stop}.get(str(message.get("type")))
            if act is None:
                raise BadRequest("type: must be ask or stop")
            if self.patience:
                self.patience.cancel()
            await act(message)
        except Exception as failure:  # the task boundary: the socket outlives a failed message
            await self._refuse(gate.as_api_error(failure))

    async def _ask(self, message: dict[str, Any]) -> None:
        if self.answer and not self.answer.done():
            raise ApiError(409, "An answer is still running.")
        token = message.get("key")
        if not isinstance(token, str) or not token:
            raise Unauthorized(sent=False)
        address = self._address()

        def admit() -> Caller:
            caller = auth.assistant_caller(token, self.domain, address)
            ratelimit.spend(*assistant_charges(caller))
            return caller

        caller = await in_db(admit)()
        try:
            body = Ask.model_validate(message)
        except ValidationError as wrong:
            raise BadRequest(*(detail(item, item["loc"]) for item in wrong.errors())) from None
        self.answer = asyncio.create_task(self._send_answer(caller, body))

    async def _send_answer(self, caller: Caller, body: Ask) -> None:
        try:
            _, events = await doors.ask(caller.project, body, Message.Caller.WEB)
            async with contextlib.aclosing(v2.encode(events)) as parts:
                async for part in parts:
                    if part["type"] == "error":
                        part = {**part, "status": 503}
                    await self._send(part)
        except Exception as failure:  # the same boundary, of the answer's own task
            await self._refuse(gate.as_api_error(failure))

    async def _stop(self, message: dict[str, Any]) -> None:
        if await self._cancel():
            await self._send({"type": "abort"})
            await self._send({"type": "finish"})

    async def _cancel(self) -> bool:
        """End a running answer; returns whether there was one."""
        task, self.answer = self.answer, None
        if task is None or task.done():
            return False
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        return True

    async def _send(self, part: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps(part, allow_nan=False, separators=(",", ":")))

    async def _refuse(self, error: ApiError) -> None:
        text = " ".join([error.sentence, *(f"{wrong}." for wrong in error.details)])
        part: dict[str, Any] = {"type": "error", "errorText": text, "status": error.status}
        if wait := error.headers.get("Retry-After"):
            part["retryAfter"] = int(wait)
        await self._send(part)

    def _header(self, name: bytes) -> str:
        return next((value.decode("latin-1") for key, value in self.scope["headers"] if key == name), "")

    def _address(self) -> client_ip.Address:
        peer = (self.scope.get("client") or ("",))[0]
        return client_ip.resolve(peer, self._header(b"x-forwarded-for"))

    async def _is_allowed(self) -> bool:
        host, origin = self._header(b"host").lower(), self._header(b"origin").lower()
        if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
            return False
        if not origin or origin in (f"http://{host}", f"https://{host}"):
            return True
        return await in_db(auth.lists_origin)(self.domain, origin)
