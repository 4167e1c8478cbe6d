"""Stream protocols: `events` of an answer become text, one module for each protocol.

Others import the events, `PROTOCOLS`, the types in `protocol`, and `socket` for the error message of sockets. A
protocol is a module with a `PROTOCOL`, and a line below. `without_trigger` has no line: it is the form
of version 2 for some clients, not a protocol of its own. Encoders only encode; the rules of an
answer are in `assistant.answering`.
"""

from assistant.wire import data_stream, socket, ui_message_stream
from assistant.wire.protocol import StreamProtocol

PROTOCOLS: dict[str, StreamProtocol] = {
    "v1": data_stream.PROTOCOL,
    "v2": ui_message_stream.PROTOCOL,
    "socket": socket.PROTOCOL,
}
