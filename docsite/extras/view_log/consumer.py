"""A thread that takes page views from the view log and stores them in the database.

Each process with background work has one. The stream gives each message to one of them.
"""

import logging
from concurrent.futures import Future, wait
from enum import Enum, auto
from typing import cast

from django.db import DataError, Error, IntegrityError
from django.db import connection as database

from analytics.collecting import writer
from analytics.collecting.writer import Receipt
from docsite.core.access.authentication import project_by_id
from docsite.core.background import BackgroundThread
from docsite.core.group_commit import QueueFull
from docsite.core.tenants.models import Project
from docsite.extras.view_log import connection, messages
from docsite.extras.view_log.connection import Delivery
from docsite.extras.view_log.settings import read_url

logger = logging.getLogger(__name__)

MESSAGES = 64  # that are taken at once: 16 MiB at most
FETCH_SECONDS = 2.0  # that the thread waits for messages; to stop it may take as long
RETRY_SECONDS = 2.0  # while the log or the database is away
KEEP_SECONDS = 5.0  # after which the log hears that the messages are still being stored


class _Consumer(BackgroundThread):
    """A thread that takes messages, has their views stored, and removes them from the log."""

    name = "view log"
    seconds = 0.0
    retry_seconds = RETRY_SECONDS
    works_at_once = True

    def start(self) -> None:
        """Start the thread, unless it runs or `VIEW_LOG_URL` is empty."""
        if read_url():
            super().start()

    def work(self) -> None:
        """Store the next messages. What the database does not take now is delivered again, to any process."""
        try:
            deliveries = connection.run(connection.fetch(MESSAGES, FETCH_SECONDS)).result()
            if not deliveries:
                database.close()  # others may need it
                return
            futures = [_submit(delivery) for delivery in deliveries]
            while wait(futures, KEEP_SECONDS).not_done:
                connection.run(connection.keep(deliveries)).result()
            by_outcome: dict[_Outcome, list[Delivery]] = {outcome: [] for outcome in _Outcome}
            for delivery, future in zip(deliveries, futures, strict=True):
                by_outcome[_judge(delivery, future)].append(delivery)
            connection.run(connection.settle(*by_outcome.values())).result()
        except connection.LogUnavailableError:
            self.stopping.wait(RETRY_SECONDS)
            return
        if by_outcome[_Outcome.WAITS]:
            self.stopping.wait(RETRY_SECONDS)


class _Outcome(Enum):
    """What became of a message."""

    DONE = auto()  # stored, or its project was deleted
    REFUSED = auto()  # only a person or another release can mend it
    WAITS = auto()


def _submit(delivery: Delivery) -> "Future[Receipt | None]":
    """Have a message stored. The future ends with None if its project was deleted: its views are of no use without."""
    done: Future[Receipt | None] = Future()
    try:
        project_id, views = messages.decode(delivery.body)
        if project := project_by_id(project_id):
            return cast("Future[Receipt | None]", writer.submit(project.pk, views))
        done.set_result(None)
    except (ValueError, Error) as failure:
        done.set_exception(failure)
    return done


def _judge(delivery: Delivery, future: "Future[Receipt | None]") -> _Outcome:
    """Whether a message is stored, or what to do with it."""
    failure = future.exception()
    if failure is None:
        return _Outcome.DONE
    is_of_database = isinstance(failure, Error) and not isinstance(failure, (DataError, IntegrityError))
    if is_of_database or isinstance(failure, QueueFull):
        return _Outcome.WAITS
    if isinstance(failure, (IntegrityError, Project.DoesNotExist)) and not _has_project(delivery):
        return _Outcome.DONE
    logger.error(
        "Message %d of the view log cannot be stored. It goes to docs_views_refused.", delivery.number, exc_info=failure
    )
    return _Outcome.REFUSED


def _has_project(delivery: Delivery) -> bool:
    """Whether the project of a message still exists."""
    project_id, _ = messages.decode(delivery.body)
    return Project.objects.filter(project_id=project_id).exists()


thread = _Consumer()
