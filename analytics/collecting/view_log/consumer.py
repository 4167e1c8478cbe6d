"""The thread that writes the views of the log to the database. All processes that work in the background share this."""

import logging
from concurrent.futures import Future

from django.conf import settings
from django.db import IntegrityError, InterfaceError, OperationalError

from analytics.collecting import writer
from analytics.collecting.view_log import connection, messages
from analytics.collecting.view_log.connection import Delivery
from analytics.collecting.writer import Receipt
from docsite.core.background import BackgroundThread
from docsite.core.group_commit import QueueFull
from docsite.core.tenants.models import Project

logger = logging.getLogger(__name__)

MESSAGES = 64  # that are taken at once: 16 MiB at most
FETCH_SECONDS = 2.0  # that the thread waits for messages, and its end for the thread
RETRY_SECONDS = 2.0  # while the log or the database is away
LATER_SECONDS = 60.0  # for a message that cannot be stored, which only a person or another release can mend


class _Consumer(BackgroundThread):
    """A thread that takes messages, has their views stored, and removes them from the log."""

    name = "view log"
    seconds = 0.0
    retry_seconds = RETRY_SECONDS
    works_at_once = True

    def work(self) -> None:
        """Store the next messages. What the database does not take is delivered again later, to any process."""
        try:
            deliveries = connection.run(connection.fetch(MESSAGES, FETCH_SECONDS)).result()
            submitted = [(delivery, _submit(delivery)) for delivery in deliveries]
            waits = [(delivery, _wait(delivery, future)) for delivery, future in submitted]
            stored = [delivery for delivery, seconds in waits if not seconds]
            later = [(delivery, seconds) for delivery, seconds in waits if seconds]
            connection.run(connection.settle(stored, later)).result()
        except connection.LogUnavailableError:
            self.stopping.wait(RETRY_SECONDS)
            return
        if any(seconds == RETRY_SECONDS for _, seconds in later):
            self.stopping.wait(RETRY_SECONDS)


def _submit(delivery: Delivery) -> "Future[Receipt]":
    try:
        return writer.submit(*messages.decode(delivery.body))
    except ValueError as failure:
        refused: Future[Receipt] = Future()
        refused.set_exception(failure)
        return refused


def _wait(delivery: Delivery, future: "Future[Receipt]") -> float:
    """Wait until a message is stored. Returns 0, or after how many seconds to try again."""
    try:
        future.result()
    except (OperationalError, InterfaceError, QueueFull):
        return RETRY_SECONDS
    except Exception as failure:  # the message stays in the log, and the others go on
        if isinstance(failure, (IntegrityError, Project.DoesNotExist)) and not _has_project(delivery):
            return 0.0
        logger.exception("Message %d of the view log cannot be stored. It stays in the log.", delivery.number)
        return LATER_SECONDS
    return 0.0


def _has_project(delivery: Delivery) -> bool:
    """Whether the project of a message still exists. Its views are of no use without."""
    project_id, _ = messages.decode(delivery.body)
    return Project.objects.filter(pk=project_id).exists()


_consumer = _Consumer()
stop = _consumer.stop


def start() -> None:
    """Start the thread, if there is a log."""
    if settings.ENV.view_log_url:
        _consumer.start()
