"""The UI message stream for clients that send no `trigger`.

The transport of the AI SDK sends one. A client that sends none was written for another service with this API, and
reads results under `results`. Some of these are applications with the AI SDK that replace the body of its request;
others read the thread id at the top level of `finish`. Releases 5.0.0 to 5.0.200 and 6.0.0 to 6.0.220 of the AI SDK
refuse a message with that key. They accept any type, so only a client that names JSON gets it.
"""

from dataclasses import replace
from typing import Any

from assistant.wire import ui_message_stream
from assistant.wire.events import Event


class Encoder(ui_message_stream.Encoder):
    """Encodes as `ui_message_stream` does, except for the output of a tool."""

    def _parts(self, event: Event) -> list[dict[str, Any]]:
        return [self._convert(part) for part in super()._parts(event)]

    def _convert(self, part: dict[str, Any]) -> dict[str, Any]:
        return {**part, "output": {"results": part["output"]}} if part["type"] == "tool-output-available" else part


class JsonEncoder(Encoder):
    """Encodes the same with the thread id at the top level of `finish`."""

    def _finish(self) -> dict[str, Any]:
        return {**super()._finish(), **self._metadata}


PROTOCOL = replace(ui_message_stream.PROTOCOL, encoder=Encoder)
JSON_PROTOCOL = replace(PROTOCOL, encoder=JsonEncoder)  # for a client whose `Accept` names `application/json`
