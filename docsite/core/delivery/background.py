"""A thread in each process that serves. It sends the deliveries that are due."""

import logging

from docsite.core.background import BackgroundThread
from docsite.core.delivery import outbox, sending
from docsite.core.delivery.messages import DeliveryError, DeliveryUnwantedError

logger = logging.getLogger(__name__)


class _Sender(BackgroundThread):
    """A thread that sends one delivery after the other. What it has not sent is sent later, by any process."""

    name = "deliveries"
    seconds = 1.0
    retry_seconds = 30.0

    def work(self) -> None:
        """Send what is due."""
        while not self.stopping.is_set() and send_next():
            pass


def send_next() -> bool:
    """Send one delivery that is due. Returns whether there was one."""
    delivery = outbox.claim()
    if delivery is None:
        return False
    try:
        message = outbox.render(delivery)
        if message is None:
            raise DeliveryError("There is no address any more: name one in the settings.")
        result = sending.send(message, delivery.event, delivery.delivery_id, delivery.created_at)
    except DeliveryUnwantedError as reason:
        logger.info("Delivery %s is dropped: %s", delivery.delivery_id, reason)
        outbox.drop(delivery)
    except DeliveryError as failure:
        outbox.finish(delivery, succeeded=False, result=str(failure))
    except Exception as failure:  # a fault of ours must not hold up the other deliveries
        logger.exception("Delivery %s could not be sent.", delivery.delivery_id)
        outbox.finish(delivery, succeeded=False, result=f"An error of the service ({type(failure).__name__}).")
    else:
        outbox.finish(delivery, succeeded=True, result=result)
    return True


thread = _Sender()
