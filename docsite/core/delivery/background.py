"""A thread in each process that serves. It sends the deliveries that are due."""

import logging
import threading

from django.db import close_old_connections, connection

from docsite.core.delivery import mail, outbox, webhooks
from docsite.core.delivery.messages import DeliveryError, Email
from docsite.core.delivery.models import Delivery

logger = logging.getLogger(__name__)

POLL_SECONDS = 1.0
RETRY_SECONDS = 30.0  # after an error of the database
STOP_SECONDS = 10.0
NO_ADDRESS = "There is no address any more: name one in the settings."


class _Background:
    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if self.thread is None:
            self.stopping.clear()
            self.thread = threading.Thread(target=self._run, name="deliveries", daemon=True)
            self.thread.start()

    def stop(self) -> None:
        """Stop the thread after its present delivery. What it has not sent is sent later, by any process."""
        self.stopping.set()
        if self.thread:
            self.thread.join(STOP_SECONDS)
            if not self.thread.is_alive():
                self.thread = None

    def _run(self) -> None:
        pause = POLL_SECONDS
        while not self.stopping.wait(pause):
            pause = POLL_SECONDS
            close_old_connections()
            try:
                while not self.stopping.is_set() and send_next():
                    pass
            except Exception:  # the thread lives as long as the process
                logger.exception("Deliveries could not be read or stored.")
                pause = RETRY_SECONDS
            close_old_connections()
        connection.close()


def send_next() -> bool:
    """Send one delivery that is due. Returns whether there was one."""
    delivery = outbox.claim()
    if delivery is None:
        return False
    try:
        result = send(delivery)
    except DeliveryError as failure:
        outbox.finish(delivery, succeeded=False, result=str(failure))
    except Exception as failure:  # a fault of ours must not hold up the other deliveries
        logger.exception("Delivery %s could not be sent.", delivery.delivery_id)
        outbox.finish(delivery, succeeded=False, result=f"An error of the service ({type(failure).__name__}).")
    else:
        outbox.finish(delivery, succeeded=True, result=result)
    return True


def send(delivery: Delivery) -> str:
    """Send a delivery now. Returns a sentence; raises `DeliveryError`."""
    message = outbox.render(delivery)
    if message is None:
        raise DeliveryError(NO_ADDRESS)
    if isinstance(message, Email):
        return mail.send(message, delivery.delivery_id)
    created_at = delivery.created_at.isoformat(timespec="seconds")
    return webhooks.call(message, delivery.delivery_id, delivery.event, created_at)


_background = _Background()
start, stop = _background.start, _background.stop
