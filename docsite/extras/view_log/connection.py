"""The one connection of this process to NATS, in a thread with an event loop of its own.

`run` runs the coroutines of this module there. They raise `LogUnavailableError` for all that the log does wrong.
"""

import asyncio
import json
import logging
import threading
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar
from urllib.parse import unquote

from django.conf import settings

from docsite.core.availability import Dependency
from docsite.extras.view_log.settings import read_url
from docsite.extras.view_log.stream import (
    CONSUMER,
    CONSUMER_SETTINGS,
    REFUSED_SETTINGS,
    REFUSED_STREAM,
    REFUSED_SUBJECT,
    STREAM,
    STREAM_SETTINGS,
    SUBJECT,
    count_replicas,
    find_faults,
)

T = TypeVar("T")

PUBLISH_SECONDS = 4.0  # for a view; an answer to a request waits for it
PUBLISH_SHARE = 0.8  # of `DATABASE_SECONDS`, at most
AWAY_SECONDS = 0.25  # the same while the log does not work, except for one view every five seconds
REQUEST_SECONDS = 1.5
CONNECT_SECONDS = 2
RETRY_SECONDS = 0.1
RECONNECT_SECONDS = 0.5
PING_SECONDS = 1  # after three without an answer another server is tried

dependency = Dependency("The view log")


class LogUnavailableError(Exception):
    """The log does not answer, or refuses. The message is a reason for the operator."""


@dataclass(frozen=True)
class Delivery:
    """A message that this process got from the stream. `number` is its sequence number there; `raw` acknowledges it."""

    number: int
    body: bytes
    raw: Any


def run(work: Coroutine[Any, Any, T]) -> "Future[T]":
    """Run a coroutine in the event loop of the connection, which has a thread of its own."""
    with _lock:
        loop = _start_loop()
    return asyncio.run_coroutine_threadsafe(work, loop)


async def publish(body: bytes, message_id: str) -> bool:
    """Store a message. Returns whether the stream has stored this id before, in the last two minutes.

    If an earlier attempt of this call got no answer, that attempt may have stored the message; then it counts as new.
    """
    from nats.errors import Error
    from nats.js.errors import APIError

    loop = asyncio.get_running_loop()
    is_attempt = dependency.claim_attempt()
    patience = min(PUBLISH_SECONDS, settings.ENV.database_seconds * PUBLISH_SHARE)
    end = loop.time() + (patience if is_attempt else AWAY_SECONDS)
    was_sent = False
    with _report(is_patient=is_attempt):
        while True:
            left = max(end - loop.time(), 0.001)
            try:
                client = await _connection.open(left)
                ack = await client.jetstream().publish(
                    SUBJECT, body, min(left, REQUEST_SECONDS), STREAM, {"Nats-Msg-Id": message_id}
                )
                break
            except APIError:
                raise  # such as a full stream: it has answered
            except (Error, OSError):  # it has lost a node or its leader, or a connection
                if loop.time() + RETRY_SECONDS > end:
                    raise
                _connection.check_again()
            was_sent = True
            await asyncio.sleep(RETRY_SECONDS)
    dependency.report_success()
    return bool(ack.duplicate) and not was_sent


async def describe(stream: str = STREAM, seconds: float = REQUEST_SECONDS) -> dict[str, Any]:
    """`config` and `state` of a stream, as the JetStream API answers within so many seconds."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    with _report(is_patient=seconds >= REQUEST_SECONDS):
        client = await _connection.open(seconds)
        info = await _ask(client, f"STREAM.INFO.{stream}", seconds=max(end - loop.time(), 0.001))
    dependency.report_success()
    return info


async def fetch(count: int, seconds: float) -> list[Delivery]:
    """Up to so many messages that wait, in their order; none if none comes within so many seconds."""
    with _report():
        client = await _connection.open(REQUEST_SECONDS)
        puller = await _connection.find_puller()
        try:
            messages = await puller.fetch(count, timeout=seconds)
        except TimeoutError:
            if not client.is_connected:
                raise
            return []  # this does not mean that JetStream works
    dependency.report_success()
    return [Delivery(raw.metadata.sequence.stream, raw.data, raw) for raw in messages]


async def keep(deliveries: Sequence[Delivery]) -> None:
    """Let nobody else get these messages for further `ACK_SECONDS`."""
    with _report():
        for delivery in deliveries:
            await delivery.raw.in_progress()


async def settle(stored: Sequence[Delivery], refused: Sequence[Delivery], waiting: Sequence[Delivery]) -> None:
    """Remove stored messages from the stream, move refused ones to theirs, and have the others delivered again."""
    with _report():
        for delivery in stored:
            await delivery.raw.ack()
        for delivery in waiting:
            await delivery.raw.nak()
        for delivery in refused:
            publishing = (await _connection.open(REQUEST_SECONDS)).jetstream()
            await publishing.publish(REFUSED_SUBJECT, delivery.body, REQUEST_SECONDS, REFUSED_STREAM)
            await delivery.raw.ack()


def parse_url(url: str) -> tuple[list[str], dict[str, str]]:
    """The address of each server of `nats://user:password@host:4222,host:4222`, and what logs in there."""
    scheme, _, rest = url.partition("://")
    credentials, _, hosts = rest.rpartition("@")
    user, colon, password = credentials.partition(":")
    login = {"user": unquote(user), "password": unquote(password)} if colon else {"token": unquote(user)}
    return [f"{scheme}://{host}" for host in hosts.rstrip("/").split(",")], login if user else {}


class _Connection:
    """The client of NATS, which connects again by itself, and what was checked with it. All runs in one loop."""

    def __init__(self) -> None:
        self._client: Any = None
        self._puller: Any = None
        self._opening: asyncio.Task[Any] | None = None
        self._reason = "no answer"  # of the last attempt to connect

    async def open(self, seconds: float) -> Any:
        """The client, once it is connected and stream and consumer exist."""
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._prepare())
        opening = self._opening  # another task may begin anew
        if not opening.done():
            await asyncio.wait([opening], timeout=seconds)
        if not opening.done():
            raise TimeoutError(self._reason)
        if opening.exception() and self._opening is opening:
            self._opening = None
        return opening.result()

    def check_again(self) -> None:
        """Look at connection and stream at the next `open`: one of them has failed."""
        if self._opening and self._opening.done():
            self._opening = None

    async def find_puller(self) -> Any:
        """The subscription to the consumer."""
        if self._puller is None:
            self._puller = await self._client.jetstream().pull_subscribe_bind(CONSUMER, STREAM)
        return self._puller

    async def _prepare(self) -> Any:
        from nats.js.errors import NotFoundError

        servers, login = parse_url(read_url())
        if self._client is None or self._client.is_closed:
            self._client, self._puller = await self._connect(servers, login), None
        for stream in (STREAM_SETTINGS, REFUSED_SETTINGS):
            try:
                info = await _ask(self._client, f"STREAM.INFO.{stream['name']}")
            except NotFoundError:
                new = {**stream, "num_replicas": count_replicas(len(servers))}
                info = await _ask(self._client, f"STREAM.CREATE.{stream['name']}", new)
            if faults := ", ".join(find_faults(info["config"], stream)):
                raise LogUnavailableError(f"the stream {stream['name']} may lose views: {faults}")
        consumer = {"stream_name": STREAM, "config": CONSUMER_SETTINGS}
        await _ask(self._client, f"CONSUMER.DURABLE.CREATE.{STREAM}.{CONSUMER}", consumer)
        return self._client

    async def _connect(self, servers: list[str], login: dict[str, str]) -> Any:
        import nats

        async def note(failure: Exception) -> None:
            self._reason = f"{failure}" or type(failure).__name__

        logging.getLogger("nats").setLevel(logging.CRITICAL)  # `dependency` tells it, once
        return await nats.connect(  # tries until it succeeds
            servers,
            name="docs-service",
            max_reconnect_attempts=-1,
            reconnect_time_wait=RECONNECT_SECONDS,
            connect_timeout=CONNECT_SECONDS,
            ping_interval=PING_SECONDS,
            max_outstanding_pings=2,
            error_cb=note,
            **login,
        )


_connection = _Connection()
_lock = threading.Lock()


async def _ask(client: Any, subject: str, body: object = None, seconds: float = REQUEST_SECONDS) -> dict[str, Any]:
    """The answer of the JetStream API (https://docs.nats.io/reference/reference-protocols/nats_api_reference)."""
    from nats.js.errors import APIError

    sent = b"" if body is None else json.dumps(body).encode()
    answer = await client.request(f"$JS.API.{subject}", sent, timeout=seconds)
    found: dict[str, Any] = json.loads(answer.data)
    if error := found.get("error"):
        raise APIError.from_error(error)
    return found


@contextmanager
def _report(*, is_patient: bool = True) -> Iterator[None]:
    """Let `dependency` know that work with the log has failed, unless it had less time than usual."""
    from nats.errors import Error

    try:
        yield
    except Exception as failure:  # also of an answer that is none
        is_expected = isinstance(failure, (Error, OSError, LogUnavailableError))
        reason = (str(failure) or type(failure).__name__) if is_expected else repr(failure)
        if is_patient:
            _connection.check_again()
            dependency.report_failure(f"{reason}. Look at VIEW_LOG_URL, and run `manage.py doctor`")
        raise LogUnavailableError(reason) from failure


@cache
def _start_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="view log client", daemon=True).start()
    return loop
