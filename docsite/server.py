"""Daphne with our settings, and what it lacks: back-pressure, and an end that loses nothing.

`manage.py serve` and `manage.py demo` run it.
"""

import asyncio
import logging
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any

from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from django.utils.module_loading import import_string
from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)

LARGEST_MESSAGE = 4 * 1024 * 1024  # above the socket's own limit of 2 MiB, which answers with a close code
UNREAD_BYTES = 256 * 1024  # that wait for a reader, before what writes to them has to wait, too
UNREAD_SECONDS = 120.0  # then the connection is given up
REQUEST_SECONDS = 2.0  # that short requests get to end, when the answers have

Drain = Callable[[], Awaitable[None]]


def claim(host: str, port: int) -> None:
    """Raise OSError when the address cannot be listened on; Daphne would log that and go on."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))


class DrainingServer(Server):  # type: ignore[misc]  # Daphne has no types
    """Daphne that slows down for slow readers, and on SIGTERM lets answers end before it does."""

    def __init__(self, *, drain: Drain, **options: Any) -> None:
        super().__init__(**options)
        self.drain = drain
        self.ports: list[Any] = []

    def listen_success(self, port: Any) -> None:
        """Keep the port, to close it first when the end comes."""
        super().listen_success(port)
        self.ports.append(port)

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Send a message; return when the reader has taken most of what was sent."""
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
        """Twisted asks this before it shuts down, and waits for the result."""
        return Deferred.fromFuture(asyncio.ensure_future(self._end()))

    async def _end(self) -> None:
        for port in self.ports:
            port.stopListening()
        try:
            await self.drain()
        except Exception:  # the process must end all the same
            logger.exception("The running answers could not be ended.")
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


def _unread(transport: Any) -> int:
    """Bytes that were written and that the kernel has not taken yet."""
    return len(getattr(transport, "dataBuffer", b"")) + getattr(transport, "_tempDataLen", 0)


def serve(host: str, port: int, ready: Callable[[], None], drain: Drain) -> None:
    """Serve until SIGINT or SIGTERM, at an address that was claimed. `drain` ends what runs, then the process ends."""
    DrainingServer(
        application=import_string("docsite.asgi.application"),
        endpoints=build_endpoint_description_strings(host=host, port=port),
        ready_callable=ready,
        server_name="",
        websocket_max_message_size=LARGEST_MESSAGE,
        websocket_max_frame_size=LARGEST_MESSAGE,
        drain=drain,
    ).run()
