"""The stream that holds views until the database has them, its consumer, and the stream of what cannot be stored.

https://docs.nats.io/nats-concepts/jetstream/streams
"""

from collections.abc import Iterator, Mapping
from typing import Any

# Raise it when `View` changes. New processes must read the old version, too; old ones take no messages of the new one.
VERSION = 1
STREAM = "docs_views"
SUBJECT = f"docs.views.{VERSION}"
CONSUMER = f"docs_writer_{VERSION}"
REFUSED_STREAM = "docs_views_refused"
REFUSED_SUBJECT = f"docs.refused.{VERSION}"
MAX_BYTES = 1 << 30  # of the stream that this service makes: some three million views
MAX_REFUSED_BYTES = 256 << 20
ACK_SECONDS = 15.0  # without a sign of the process that took a message, after which it is delivered again
MAX_UNACKNOWLEDGED = 1_000  # messages that all processes together have taken and not stored yet

STREAM_SETTINGS = {
    "name": STREAM,
    "subjects": ["docs.views.*"],
    "retention": "workqueue",  # a message is removed when it is acknowledged
    "storage": "file",
    "discard": "new",  # a full stream refuses views instead of losing old ones
    "max_bytes": MAX_BYTES,
}
REFUSED_SETTINGS = {
    **STREAM_SETTINGS,
    "name": REFUSED_STREAM,
    "subjects": ["docs.refused.*"],
    "retention": "limits",  # until a person removes it
    "max_bytes": MAX_REFUSED_BYTES,
}
CONSUMER_SETTINGS = {
    "durable_name": CONSUMER,
    "filter_subject": SUBJECT,
    "ack_policy": "explicit",
    "ack_wait": int(ACK_SECONDS * 1e9),
    "max_ack_pending": MAX_UNACKNOWLEDGED,
    "max_deliver": -1,
}


def count_replicas(hosts: int) -> int:
    """How many replicas a new stream gets where `VIEW_LOG_URL` names so many hosts."""
    return 3 if hosts >= 3 else 1


def find_faults(config: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """Why a stream with this configuration could lose a view that it has acknowledged, or would keep stored ones."""
    for name in ("subjects", "storage", "discard", "retention"):
        if config[name] != wanted[name]:
            yield f"{name} must be {wanted[name]}, and is {config[name]}"
    for name in ("max_age", "max_msgs_per_subject"):
        if config.get(name, 0) > 0:
            yield f"{name} must not be limited"
    if config.get("no_ack"):
        yield "no_ack must be off"
