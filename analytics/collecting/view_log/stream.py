"""The stream that holds views until the database has them, and the consumer that all processes share.

https://docs.nats.io/nats-concepts/jetstream/streams
"""

from collections.abc import Iterator, Mapping
from typing import Any

STREAM = "docs_views"
SUBJECT = "docs.views"
CONSUMER = "docs_writer"
MAX_BYTES = 1 << 30  # of the stream that this service makes: some three million views
ACK_SECONDS = 15.0  # after which a message is delivered again, since the process that took it has died
MAX_UNACKNOWLEDGED = 1_000  # messages that all processes together have taken and not stored yet

STREAM_SETTINGS = {
    "name": STREAM,
    "subjects": [SUBJECT],
    "retention": "workqueue",  # a message is removed when it is acknowledged
    "storage": "file",
    "discard": "new",  # a full stream refuses views instead of losing old ones
    "max_bytes": MAX_BYTES,
}
CONSUMER_SETTINGS = {
    "durable_name": CONSUMER,
    "ack_policy": "explicit",
    "ack_wait": int(ACK_SECONDS * 1e9),
    "max_ack_pending": MAX_UNACKNOWLEDGED,
    "max_deliver": -1,
}


def count_replicas(hosts: int) -> int:
    """How many replicas a new stream gets where `VIEW_LOG_URL` names so many hosts."""
    return 3 if hosts >= 3 else 1


def find_faults(config: Mapping[str, Any]) -> Iterator[str]:
    """Why a stream with this configuration could lose a view that it has acknowledged, or would keep stored ones."""
    for name in ("storage", "discard", "retention"):
        if config[name] != STREAM_SETTINGS[name]:
            yield f"{name} must be {STREAM_SETTINGS[name]}, and is {config[name]}"
    for name in ("max_age", "max_msgs_per_subject"):
        if config.get(name, 0) > 0:
            yield f"{name} must not be limited"
    if config.get("no_ack"):
        yield "no_ack must be off"
