"""What waits in the log."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime

from docsite.extras.view_log import connection
from docsite.extras.view_log.stream import REFUSED_STREAM, STREAM

WAIT_SECONDS = 0.02


@dataclass(frozen=True)
class State:
    """The messages that are not in the database yet. A message has the views of one request, or a part of them."""

    messages: int
    first: int  # the number of the oldest one; above `last` when none waits
    last: int  # the number of the latest one ever
    oldest_seconds: float  # how long the oldest one waits
    replicas: int  # of each message


def read(seconds: float = connection.REQUEST_SECONDS) -> State:
    """The state of the log now. Raises `LogUnavailableError`, also if that takes longer."""
    info = connection.run(connection.describe(STREAM, seconds)).result()
    state, replicas = info["state"], info["config"]["num_replicas"]
    since = datetime.fromisoformat(state["first_ts"][:19]).replace(tzinfo=UTC)  # nanoseconds follow
    age = (datetime.now(UTC) - since).total_seconds() if state["messages"] else 0.0
    return State(state["messages"], state["first_seq"], state["last_seq"], max(age, 0.0), replicas)


def count_refused() -> int:
    """How many messages could not be stored, and wait for a person. Raises `LogUnavailableError`."""
    return int(connection.run(connection.describe(REFUSED_STREAM)).result()["state"]["messages"])


def wait_until_stored(seconds: float) -> bool:
    """Wait until the database has every view that was acknowledged before the call, or has refused it.

    Returns False if it takes longer, or if the log does not answer: at once while it is known not to work.
    """
    if not connection.dependency.claim_attempt():
        return False
    until = time.monotonic() + seconds
    try:
        state = read(min(seconds, connection.REQUEST_SECONDS))
        last = state.last
        while state.messages and state.first <= last:
            time.sleep(WAIT_SECONDS)
            if (left := until - time.monotonic()) <= 0:
                return False
            state = read(min(left, connection.REQUEST_SECONDS))
    except connection.LogUnavailableError:
        return False
    return True
