"""The UI message stream for clients that send no `trigger`.

Every release of the AI SDK sends a trigger. A client that sends none was written
for another service with this API. It reads the thread id at the top level of `finish`,
and results under `results`. Older releases of the AI SDK refuse a message with that
key, so they must not get it.
"""

from dataclasses import replace
from typing import Any

from assistant.events import Event
from assistant.wire import ui_message_stream


class Encoder(ui_message_stream.Encoder):
    """Encodes as `ui_message_stream` does, except for two parts."""

    def _parts(self, event: Event) -> list[dict[str, Any]]:
        return [self._convert(part) for part in super()._parts(event)]

    def _convert(self, part: dict[str, Any]) -> dict[str, Any]:
        match part["type"]:
            case "tool-output-available":
                return {**part, "output": {"results": part["output"]}}
            case "finish":
                return {**part, **part["messageMetadata"]}
        return part


PROTOCOL = replace(ui_message_stream.PROTOCOL, encoder=Encoder)
