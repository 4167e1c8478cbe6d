"""The widget's socket: each part of the UI message stream is one message, and an error has an HTTP status."""

from typing import Any

from assistant.wire import ui_message_stream
from assistant.wire.events import Event, Failure
from assistant.wire.protocol import StreamProtocol, to_json

BROKEN_OFF_STATUS = 503


class Encoder(ui_message_stream.Encoder):
    """Encodes as `ui_message_stream` does, and adds `status` to an error."""

    def encode(self, event: Event) -> list[str]:
        """The messages of one event."""
        if isinstance(event, Failure):
            return [encode_error(event.sentence, BROKEN_OFF_STATUS)]
        return super().encode(event)


def encode_error(sentence: str, status: int, retry_after: int | None = None) -> str:
    """An error as a message. `status` is the HTTP status of such an error; `retry_after` is in seconds."""
    part: dict[str, Any] = {"type": "error", "errorText": sentence, "status": status}
    if retry_after is not None:
        part["retryAfter"] = retry_after
    return to_json(part)


PROTOCOL = StreamProtocol(encoder=Encoder, description="The widget's socket: JSON messages.")
