"""Daphne with our settings, and with two things that it lacks: back-pressure, and an end that loses nothing.

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
from typing import Any

from autobahn.exception import Disconnected
from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from django.utils.module_loading import import_string
from twisted.internet import tcp
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone

from docsite.server import lifecycle

LARGEST_MESSAGE = 4 * 1024 * 1024  # above the socket's own limit of 2 MiB, which answers with a close code
UNREAD_BYTES = 256 * 1024  # not yet sent on one connection; above this the sender waits
UNREAD_SECONDS = 120.0  # then the connection is given up
REQUEST_SECONDS = 2.0  # for short requests to end, after the answers have ended


def claim(host: str, port: int) -> None:
    """Raise OSError when the address cannot be listened on; Daphne would log that and go on."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))


class DrainingServer(Server):  # type: ignore[misc]  # Daphne has no types
    """Daphne that slows down for slow readers, and on SIGTERM lets answers end before the process ends."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.ports: list[Any] = []

    def listen_success(self, port: Any) -> None:
        """Keep the port, to close it first when the end comes."""
        super().listen_success(port)
        port.transport = EagerTransport
        self.ports.append(port)

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        """Start the application; its scope tells what has reached the reader."""
        if channel := getattr(protocol, "channel", None):
            channel.receipt = getattr(channel, "receipt", None) or _Receipt(channel)
            scope["extensions"] = {"docsite.taken": channel.receipt}
        return super().create_application(protocol, scope)

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Send a message; return when the reader has taken most of what was sent."""
        with suppress(Disconnected):  # a socket's reader left this moment
            await super().handle_reply(protocol, message)
        transport = getattr(getattr(protocol, "channel", protocol), "transport", None)
        if _unread(transport) > UNREAD_BYTES:
            await self._until_read(protocol, transport)

    async def _until_read(self, protocol: Any, transport: Any) -> None:
        until = time.monotonic() + UNREAD_SECONDS
        while _unread(transport) > UNREAD_BYTES and not self._is_gone(protocol):
            if time.monotonic() > until:
                transport.abortConnection()
                return
            await asyncio.sleep(0.05)

    def _is_gone(self, protocol: Any) -> bool:
        return "disconnected" in self.connections.get(protocol, {"disconnected": 0})

    def kill_all_applications(self) -> Deferred[Any]:
        """End all answers and requests. Twisted calls this before it shuts down, and waits for the result."""
        return Deferred.fromFuture(asyncio.ensure_future(self._end()))

    async def _end(self) -> None:
        for port in self.ports:
            port.stopListening()
        await lifecycle.stop(self._end_requests)

    async def _end_requests(self) -> None:
        """Give short requests a moment to end, then cancel all that still run."""
        until = time.monotonic() + REQUEST_SECONDS
        while time.monotonic() < until and any(map(self._is_http, list(self.connections))):
            await asyncio.sleep(0.02)
        running = [
            details["application_instance"]
            for details in self.connections.values()
            if "application_instance" in details and not details["application_instance"].done()
        ]
        for application in running:
            application.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _is_http(self, protocol: Any) -> bool:
        """Whether a request is still being answered on this connection."""
        application = self.connections.get(protocol, {}).get("application_instance")
        return hasattr(protocol, "channel") and application is not None and not application.done()


class EagerTransport(tcp.Server):
    """A connection that sends at once what the kernel takes.

    Twisted waits for the loop's next turn, and registers and unregisters a writer
    with the selector for it: for a token, that is most of the work of sending it.
    """

    registered = sending = False

    def startWriting(self) -> None:
        """Write now; wait for the selector only for what is left."""
        if self._tempDataLen and not self.registered and not self.sending:
            self.sending = True
            try:
                failed = self.doWrite()  # type: ignore[no-untyped-call]
            finally:
                self.sending = False
            if not failed and not _unread(self):
                return
        self.registered = True
        super().startWriting()  # type: ignore[no-untyped-call]

    def stopWriting(self) -> None:
        """Undo what `startWriting` did, if it did anything."""
        if self.registered:
            self.registered = False
            super().stopWriting()  # type: ignore[no-untyped-call]


class _Receipt:
    """Called after the end of an answer: whether TCP has delivered all of it to the reader's machine.

    False if bytes are not acknowledged yet, or if the connection was reset: a
    reader who closes without having read everything sends a reset.
    """

    def __init__(self, channel: Any) -> None:
        self.transport = channel.transport
        self.reset = False
        self._lost = channel.connectionLost
        channel.connectionLost = self._connection_lost

    def __call__(self) -> bool:
        return not (self.reset or _unread(self.transport) or self._in_flight())

    def _in_flight(self) -> int:
        try:
            count = fcntl.ioctl(self.transport.fileno(), termios.TIOCOUTQ, bytes(4))
        except (OSError, ValueError, AttributeError):
            return 0  # closed
        return int.from_bytes(count, sys.byteorder)

    def _connection_lost(self, reason: Any) -> None:
        self.reset = not reason.check(ConnectionDone)
        self._lost(reason)


def _unread(transport: Any) -> int:
    """Bytes that were written and that the kernel has not taken yet."""
    return len(getattr(transport, "dataBuffer", b"")) + getattr(transport, "_tempDataLen", 0)


def serve(host: str, port: int, ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM, at an address that `claim` found free. Calls `ready` when it listens."""
    lifecycle.start()
    DrainingServer(
        application=import_string("docsite.asgi.application"),
        endpoints=build_endpoint_description_strings(host=host, port=port),
        ready_callable=ready,
        server_name="",
        websocket_max_message_size=LARGEST_MESSAGE,
        websocket_max_frame_size=LARGEST_MESSAGE,
    ).run()
