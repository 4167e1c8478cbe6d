"""Daphne with our settings, and with two features that it lacks: back-pressure, and a shutdown that loses nothing.

`manage.py serve` and `manage.py demo` run it.
"""

import asyncio
import fcntl
import socket
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from autobahn.exception import Disconnected
from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from django.conf import settings
from django.core.management.base import CommandError
from django.utils.module_loading import import_string
from twisted.internet import tcp
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone

from docsite.core.access.uploads import EXTENSION
from docsite.core.http import streams
from docsite.server import lifecycle
from docsite.server.connection import MAX_UNSENT_BYTES, ConnectionFactory, Socket, count_unsent
from docsite.server.health import probes, readiness

MAX_FRAME_SIZE = 4 * 1024 * 1024  # above the socket's own limit of 2 MiB, which answers with a close code
MAX_WAIT_SECONDS = 120.0  # for a client that reads too slowly; then its connection is closed
SHORT_REQUEST_GRACE_SECONDS = 2.0  # for short requests to end, after all answers have ended


def check_address(host: str, port: int, advice: str = "Choose another --port.") -> None:
    """Raise CommandError if the server cannot listen on this address. Daphne would only log it and go on."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as failure:
        raise CommandError(f"{host}:{port}: {failure.strerror}. {advice}") from None


class DrainingServer(Server):  # type: ignore[misc]  # Daphne has no types
    """Daphne that waits for slow clients, and on SIGTERM lets answers end before the process ends."""

    def __init__(
        self, host: str, port: int, ready: Callable[[], None], drain_seconds: float = 0.0, **options: Any
    ) -> None:
        endpoints = build_endpoint_description_strings(host=host, port=port)
        super().__init__(endpoints=endpoints, ready_callable=ready, server_name="", **options)
        self.ports: list[Any] = []
        self._drain_seconds = drain_seconds

    def listen_success(self, port: Any) -> None:
        """Set our classes for its connections. Keep the port, to close it first at shutdown."""
        super().listen_success(port)
        port.transport = EagerTransport
        port.factory = ConnectionFactory(self)
        self.ws_factory.protocol = Socket
        self.ports.append(port)

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        """Start the application.

        Its scope has the connection (`docsite.core.http.streams`), and says whether the body of the request is missing
        because it is too large. A body for the disk is there as a file, or as the error for which it was refused. The
        scope of a socket has its request id, which the protocol sends when the socket is refused.
        """
        if channel := getattr(protocol, "channel", None):
            channel.delivery_check = getattr(channel, "delivery_check", None) or _DeliveryCheck(channel)
            upload = protocol.upload
            scope["extensions"] = {
                "docsite.connection": streams.Connection(protocol.send_now, channel.delivery_check),
                "docsite.body_too_large": protocol.body_too_large and not (upload and upload.is_refused),
                **({EXTENSION: upload.body} if upload else {}),
            }
        else:
            own = streams.Connection(protocol.send_now)
            scope["extensions"] = {"docsite.request_id": protocol.request_id, "docsite.connection": own}
        if protocol not in self.connections:
            return None
        scope["asgi"] = {"version": "3.0"}
        inbox = Inbox()  # Daphne would take a queue
        application = self.application(scope=scope, receive=inbox.get, send=partial(self.handle_reply, protocol))
        self.connections[protocol]["application_instance"] = asyncio.ensure_future(application)
        return inbox

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Send a message. Returns when at most `MAX_UNSENT_BYTES` are not sent yet."""
        if message.get("more_body"):
            protocol.handle_reply(message)
        else:
            with suppress(Disconnected):  # a socket was closed at this moment
                await super().handle_reply(protocol, message)
        transport = getattr(getattr(protocol, "channel", protocol), "transport", None)
        if count_unsent(transport) > MAX_UNSENT_BYTES:
            await self._wait_until_sent(protocol, transport)

    async def _wait_until_sent(self, protocol: Any, transport: Any) -> None:
        deadline = time.monotonic() + MAX_WAIT_SECONDS
        while count_unsent(transport) > MAX_UNSENT_BYTES and not self._is_disconnected(protocol):
            if time.monotonic() > deadline:
                transport.abortConnection()
                return
            await asyncio.sleep(0.05)

    def _is_disconnected(self, protocol: Any) -> bool:
        return "disconnected" in self.connections.get(protocol, {"disconnected": 0})

    def kill_all_applications(self) -> Deferred[Any]:
        """End all answers and requests. Twisted calls this before its shutdown, and waits for the result."""
        return Deferred.fromFuture(asyncio.ensure_future(self._end()))

    async def _end(self) -> None:
        readiness.start_draining()
        await asyncio.sleep(self._drain_seconds)
        for port in self.ports:
            port.stopListening()
        await lifecycle.stop(self._end_requests)

    async def _end_requests(self) -> None:
        """Close the sockets, give short requests a moment to end, then cancel all that still run."""
        for protocol in list(self.connections):
            if isinstance(protocol, Socket):
                protocol.announce_end()
        deadline = time.monotonic() + SHORT_REQUEST_GRACE_SECONDS
        while time.monotonic() < deadline and self._list_running():
            await asyncio.sleep(0.02)
        running = self._list_running()
        for application in running:
            application.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _list_running(self) -> list[Any]:
        """The applications that still answer a request, or whose socket is not closed yet."""
        found = [details.get("application_instance") for details in self.connections.values()]
        return [application for application in found if application is not None and not application.done()]


class Inbox:
    """The messages of a client for its application: an `asyncio.Queue` with 3 KB less for each."""

    __slots__ = ("_messages", "_waiters")

    def __init__(self) -> None:
        self._messages: list[Any] = []
        self._waiters: list[asyncio.Future[None]] = []

    def qsize(self) -> int:
        """How many messages wait."""
        return len(self._messages)

    def put_nowait(self, message: Any) -> None:
        """Add a message."""
        self._messages.append(message)
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def get(self) -> Any:
        """Wait for the next message."""
        while not self._messages:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            finally:
                self._waiters.remove(waiter)
        return self._messages.pop(0)


class EagerTransport(tcp.Server):
    """A connection that sends at once as much as the kernel accepts.

    Twisted waits for the loop's next turn, and registers and unregisters a writer
    with the selector each time: most of the cost of sending a token.
    """

    registered = sending = False

    def write(self, data: bytes) -> None:
        """Send the bytes past Twisted's buffers if these are empty. They take what the kernel does not accept."""
        is_closing = self._writeDisconnected or self._writeDisconnecting or self.disconnecting
        sent = 0
        if self.connected and not (is_closing or self.registered or self.dataBuffer or self._tempDataLen):
            with suppress(OSError):  # Twisted meets it again, and handles it
                sent = self.socket.send(data)
        if sent < len(data):
            super().write(data[sent:])  # type: ignore[no-untyped-call]

    def startWriting(self) -> None:
        """Write now. Wait for the selector only if the kernel does not accept everything."""
        if self._tempDataLen and not self.registered and not self.sending:
            self.sending = True
            try:
                failed = self.doWrite()  # type: ignore[no-untyped-call]
            finally:
                self.sending = False
            if not failed and not count_unsent(self):
                return
        self.registered = True
        super().startWriting()  # type: ignore[no-untyped-call]

    def stopWriting(self) -> None:
        """Unregister from the selector, if `startWriting` has registered."""
        if self.registered:
            self.registered = False
            super().stopWriting()  # type: ignore[no-untyped-call]


class _DeliveryCheck:
    """Call it after the end of an answer: has TCP delivered all of it to the client's machine?

    False if bytes are not acknowledged yet, or if the connection was reset: a
    client that closes before it has read everything sends a reset.
    """

    def __init__(self, channel: Any) -> None:
        self.transport = channel.transport
        self.reset = False
        self._lost = channel.connectionLost
        channel.connectionLost = self._connection_lost

    def __call__(self) -> bool:
        return not (self.reset or count_unsent(self.transport) or self._in_flight())

    def _in_flight(self) -> int:
        try:
            count = fcntl.ioctl(self.transport.fileno(), termios.TIOCOUTQ, bytes(4))
        except (OSError, ValueError, AttributeError):
            return 0  # closed
        return int.from_bytes(count, sys.byteorder)

    def _connection_lost(self, reason: Any) -> None:
        self.reset = not reason.check(ConnectionDone)
        self._lost(reason)


def serve(host: str, port: int, ready: Callable[[], None], with_background: bool = True) -> None:
    """Serve until SIGINT or SIGTERM, at an address that `check_address` has accepted. Calls `ready` when it listens."""
    lifecycle.start(with_background)
    DrainingServer(
        host,
        port,
        ready,
        settings.ENV.drain_seconds,
        application=import_string("docsite.asgi.application"),
        request_buffer_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE * 2,  # a body is one message, not one for each 8 KiB
        websocket_max_message_size=MAX_FRAME_SIZE,
        websocket_max_frame_size=MAX_FRAME_SIZE,
    ).run()


def serve_probes(host: str, port: int, ready: Callable[[], None]) -> None:
    """Answer only questions about health and metrics, until SIGINT or SIGTERM. Then the background work ends."""
    DrainingServer(host, port, ready, application=probes.application).run()
