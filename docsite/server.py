"""Daphne with our settings: what `manage.py serve` and `manage.py demo` run."""

import socket
from collections.abc import Callable

from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from django.utils.module_loading import import_string

LARGEST_MESSAGE = 4 * 1024 * 1024  # above the socket's own limit of 2 MiB, which answers with a close code


def claim(host: str, port: int) -> None:
    """Raise OSError when the address cannot be listened on; Daphne would log that and go on."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))


def serve(host: str, port: int, ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM, at an address that was claimed."""
    Server(
        application=import_string("docsite.asgi.application"),
        endpoints=build_endpoint_description_strings(host=host, port=port),
        ready_callable=ready,
        server_name="",
        websocket_max_message_size=LARGEST_MESSAGE,
        websocket_max_frame_size=LARGEST_MESSAGE,
    ).run()
