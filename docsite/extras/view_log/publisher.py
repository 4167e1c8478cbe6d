"""Put views into the log."""

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import Future, wait

from analytics.collecting.writer import Receipt, View
from docsite.core.group_commit import QueueFull
from docsite.core.http.errors import Unavailable
from docsite.extras.view_log import connection, messages

logger = logging.getLogger(__name__)

MAX_WAITING_VIEWS = 50_000  # that this process has sent, and that are not acknowledged yet
FLUSH_SECONDS = 5.0

_waiting: "set[Future[Receipt]]" = set()
_waiting_views = 0  # changed in the thread of the connection alone


def submit(project_id: str, views: Sequence[View]) -> "Future[Receipt]":
    """Have views stored in the log. The future ends when the stream has them, or with `QueueFull` or `Unavailable`.

    The receipt calls a view a duplicate if the batch has its key twice, or if the stream has had the same batch in the
    last two minutes. Others are found, and not stored again, when the views come to the database.
    """
    receipt: Future[Receipt] = Future()
    receipt.set_running_or_notify_cancel()  # who waits for it may leave, and the views are stored
    _waiting.add(receipt)
    receipt.add_done_callback(_waiting.discard)
    connection.run(_fulfil(receipt, project_id, views))
    return receipt


def flush() -> None:
    """Return when the log has acknowledged what was submitted, or does not answer."""
    wait(list(_waiting), FLUSH_SECONDS)


async def _fulfil(receipt: "Future[Receipt]", project_id: str, views: Sequence[View]) -> None:
    try:
        receipt.set_result(await _publish(project_id, views))
    except Exception as failure:  # perhaps nobody waits for it
        if isinstance(failure, QueueFull):
            logger.warning("%d views could not be put into the view log: %s", len(views), failure)
        elif not isinstance(failure, Unavailable):  # which `dependency` tells
            logger.exception("%d views could not be put into the view log.", len(views))
        receipt.set_exception(failure)


async def _publish(project_id: str, views: Sequence[View]) -> Receipt:
    global _waiting_views
    if _waiting_views + len(views) > MAX_WAITING_VIEWS:
        raise QueueFull("The view log does not keep up. Try again shortly.")
    _waiting_views += len(views)
    try:
        return await _publish_parts(project_id, views)
    except connection.LogUnavailableError:
        raise Unavailable("The view log takes no views now. Try again shortly.") from None
    finally:
        _waiting_views -= len(views)


async def _publish_parts(project_id: str, views: Sequence[View]) -> Receipt:
    distinct: dict[int, View] = {}
    for view in views:
        distinct.setdefault(view.key, view)
    parts = list(messages.encode(project_id, list(distinct.values())))
    known = await asyncio.gather(*(connection.publish(part.body, part.message_id) for part in parts))
    new = [view for part, is_known in zip(parts, known, strict=True) if not is_known for view in part.views]
    accepted = sum(view.counts for view in new)
    return Receipt(accepted, len(views) - len(new), len(new) - accepted)
