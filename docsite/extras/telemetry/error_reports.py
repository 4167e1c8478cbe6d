"""Errors in the log as events of Sentry, if `SENTRY_DSN` is set. The SDK reads its other variables itself.

The SDK's own integrations stay off: they send requests, local variables and the messages of exceptions, which repeat
what readers wrote. An event has the cleaned line of the log, and where exceptions were raised.
"""

import logging
import os
from contextlib import suppress
from typing import Any

from docsite.core import context
from docsite.core.logs import OutageFilter, UnavailableFilter, clean_message, describe

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 2.0


def start() -> None:
    """Send errors from now on, if an address is set."""
    if not os.environ.get("SENTRY_DSN"):
        return
    try:
        import sentry_sdk
    except ImportError:
        logger.warning("SENTRY_DSN is set, and sentry-sdk is not installed: pip install 'sentry-sdk~=2.70'")
        return
    sentry_sdk.init(
        default_integrations=False,
        auto_enabling_integrations=False,
        include_local_variables=False,
        send_default_pii=False,
        max_breadcrumbs=0,
    )
    handler = _Handler(logging.ERROR)
    for each in (OutageFilter(), UnavailableFilter()):
        handler.addFilter(each)
    logging.getLogger().addHandler(handler)


def stop() -> None:
    """Send the events that wait, for a limited time. The SDK does so itself only with its own integrations."""
    if os.environ.get("SENTRY_DSN"):
        with suppress(ImportError):
            import sentry_sdk

            sentry_sdk.flush(FLUSH_SECONDS)


class _Handler(logging.Handler):
    """Sends a record as an event."""

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record. The SDK sends in a thread of its own. Never raises, since the caller only logs."""
        try:
            self._send(record)
        except Exception as failure:
            # Not `handleError`, which prints the messages of exceptions. A warning does not come back to this handler.
            logger.warning("An error was not sent to Sentry: %s", describe(failure))

    def _send(self, record: logging.LogRecord) -> None:
        import sentry_sdk
        from sentry_sdk.utils import event_from_exception

        message = clean_message(record)
        if record.name == "django.request":  # its message is the path; without an exception another record has it
            if not record.exc_info:
                return
            message = "Internal error"
        event: Any = {}
        if record.exc_info and record.exc_info[1]:
            event, _ = event_from_exception(record.exc_info, sentry_sdk.get_client().options)
            for value in event["exception"]["values"]:
                value["value"] = ""  # it may repeat what a reader wrote
        event |= {
            "level": record.levelname.lower(),
            "logger": record.name,
            "logentry": {"message": message},
            "tags": {"request": context.request_id.get() or "-"},
        }
        sentry_sdk.capture_event(event)
