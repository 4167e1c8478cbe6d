"""A message of the log: a JSON array of the format's version, a project's id, and its views as the writer takes them.

It holds no address. The network of a reader, which limits new pages, is a keyed hash in it.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec
from django.utils.crypto import salted_hmac

from analytics.collecting.writer import View

VERSION = 1  # raise it when `View` changes: processes of the previous release leave such messages to others
MAX_BYTES = 256 << 10  # of a message, a quarter of what NATS allows by default; one view is always smaller
_ID_BYTES = 16


class Message(NamedTuple):
    """Views of one project. `message_id` is the same for the same views, so that the stream knows a repetition."""

    body: bytes
    message_id: str
    views: Sequence[View]


class UnknownVersionError(ValueError):
    """A newer release has written the message."""


def encode(project_id: int, views: Sequence[View]) -> Iterator[Message]:
    """The messages of some views, each with at most `MAX_BYTES`."""
    body = msgspec.json.encode((VERSION, project_id, [_hide_network(view) for view in views]))
    if len(body) > MAX_BYTES and len(views) > 1:
        half = len(views) // 2
        yield from encode(project_id, views[:half])
        yield from encode(project_id, views[half:])
        return
    keys = ",".join(str(view.key) for view in views)
    yield Message(body, blake2b(f"{project_id}:{keys}".encode(), digest_size=_ID_BYTES).hexdigest(), views)


def decode(body: bytes) -> tuple[int, list[View]]:
    """The project's id and the views. Raises ValueError, and `UnknownVersionError` for a newer format."""
    version, *_ = msgspec.json.decode(body, type=list[msgspec.Raw])
    if bytes(version) != str(VERSION).encode():
        raise UnknownVersionError
    _, project_id, views = msgspec.json.decode(body, type=tuple[int, int, list[View]])
    return project_id, views


def _hide_network(view: View) -> View:
    if not view.network:
        return view
    return view._replace(network=salted_hmac("analytics.view_log", view.network, algorithm="sha256").hexdigest()[:32])
