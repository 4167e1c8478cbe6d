"""A TCP proxy that can stop forwarding, as a network does that drops packets: connections stay open and say nothing.

It can also be slow.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator


class SlowNetwork:
    """Forwards connections to a server, each piece `delay` seconds later.

    While `flows` is not set, no byte arrives, in either direction.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self.flows = threading.Event()
        self.flows.set()
        self.delay = 0.0
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        self.flows.wait()
        try:
            server = socket.create_connection(self._target)
        except OSError:
            client.close()
            return
        self._open.add(client)
        for one, other in ((client, server), (server, client)):
            threading.Thread(target=self._forward, args=(one, other), daemon=True).start()

    def _forward(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                self.flows.wait()
                time.sleep(self.delay)
                other.sendall(data)
        self._open -= {one, other}
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    @contextlib.contextmanager
    def dropped(self) -> Iterator[None]:
        """Drop everything while the block runs."""
        self.flows.clear()
        try:
            yield
        finally:
            self.flows.set()

    def lead_to(self, host: str, port: int) -> None:
        """End all connections. New ones lead to another server."""
        self._target = (host, port)
        self._end_all()

    def count_open(self) -> int:
        """How many connections are open."""
        return len(self._open)

    def close(self) -> None:
        """End all connections and accept no more, as a server that is gone."""
        self.flows.set()
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts, which would take one more
        self._listener.close()
        self._end_all()

    def _end_all(self) -> None:
        for end in list(self._open):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
