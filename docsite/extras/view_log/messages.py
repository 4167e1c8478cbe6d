"""A message of the log: a JSON array of a project's public id, and its views as the writer takes them.

It holds no address. It has a keyed hash of the reader's network, by which the writer limits new pages.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec
from django.utils.crypto import salted_hmac

from analytics.collecting.writer import View

MAX_BYTES = 256 << 10  # of a message, a quarter of what NATS allows by default; one view is always smaller
_ID_BYTES = 16


class Message(NamedTuple):
    """Views of one project. `message_id` is the same for the same views, so that the stream knows a repetition."""

    body: bytes
    message_id: str
    views: Sequence[View]


def encode(project_id: str, views: Sequence[View]) -> Iterator[Message]:
    """The messages of some views, each with at most `MAX_BYTES`."""
    body = msgspec.json.encode((project_id, [_hide_network(view) for view in views]))
    if len(body) > MAX_BYTES and len(views) > 1:
        half = len(views) // 2
        yield from encode(project_id, views[:half])
        yield from encode(project_id, views[half:])
        return
    keys = ",".join(str(view.key) for view in views)
    yield Message(body, blake2b(f"{project_id}:{keys}".encode(), digest_size=_ID_BYTES).hexdigest(), views)


def decode(body: bytes) -> tuple[str, list[View]]:
    """The project's id and the views. Raises ValueError."""
    return msgspec.json.decode(body, type=tuple[str, list[View]])


def _hide_network(view: View) -> View:
    if not view.network:
        return view
    return view._replace(network=salted_hmac("analytics.view_log", view.network, algorithm="sha256").hexdigest()[:32])
