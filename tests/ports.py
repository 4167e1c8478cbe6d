"""Ports of loopback for servers that tests start."""

import contextlib
import socket
from pathlib import Path

_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
_held: list[socket.socket] = []


def free_port() -> int:
    """A port that stays free until a server binds it, on 127.0.0.1, however late.

    The kernel gives the ports of its ephemeral range to outgoing connections at any time. So the port is below that
    range. Its twin on 127.0.0.2 is bound until this process ends, so no other process of tests chooses it. A service
    may end and start again on its port.
    """
    first_ephemeral = int(_EPHEMERAL.read_text().split()[0]) if _EPHEMERAL.exists() else 32768
    for port in range(max(first_ephemeral, 20000) - 1, 1024, -1):
        twin = socket.socket()
        with contextlib.suppress(OSError), socket.socket() as probe:
            twin.bind(("127.0.0.2", port))
            probe.bind(("127.0.0.1", port))
            _held.append(twin)
            return port
        twin.close()
    raise OSError("No port is free.")
