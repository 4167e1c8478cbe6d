"""Stream protocols: `events` of an answer become text, one module for each protocol.

Others import the events, `PROTOCOLS`, the types in `protocol`, and `socket` for the error message of sockets. A
protocol is a module with a `PROTOCOL`, and a line below. `without_trigger` is the form of version 2 for some clients,
not a protocol of its own. Encoders only encode; the rules of an answer are in `assistant.answering`.
"""

from dataclasses import replace

from assistant.wire import data_stream, socket, ui_message_stream, without_trigger
from assistant.wire.protocol import StreamProtocol

PROTOCOLS: dict[str, StreamProtocol] = {
    "v1": data_stream.PROTOCOL,
    "v2": replace(
        ui_message_stream.PROTOCOL, without_trigger=(without_trigger.PROTOCOL, without_trigger.JSON_PROTOCOL)
    ),
    "socket": socket.PROTOCOL,
}
