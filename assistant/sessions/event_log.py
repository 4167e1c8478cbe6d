"""The events of a running answer, compressed: hundreds of answers are in memory at once, for readers who come back."""

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from assistant import events
from assistant.events import Event, Excerpt, Text, ToolResult

BLOCK_SIZE = 64  # events
_TYPES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(events.Start, events.ToolCall, events.ToolResult, events.Status, events.Source, events.Text),
        *(events.Failure, events.Abort, events.Finish),
    )
}


def dump_events(batch: Iterable[Event]) -> str:
    """Events as a JSON array, in memory and in Redis. A text is its string, another event `[type, *fields]`."""
    return json.dumps([event.delta if isinstance(event, Text) else _dump(event) for event in batch])


def load_events(dumped: str) -> list[Event]:
    """The events of `dump_events`."""
    return [Text(item) if isinstance(item, str) else _load(*item) for item in json.loads(dumped)]


def _dump(event: Event) -> list[Any]:
    return [type(event).__name__, *(getattr(event, field.name) for field in fields(event))]


def _load(kind: str, *values: Any) -> Event:
    if kind == ToolResult.__name__:
        call_id, excerpts = values
        return ToolResult(call_id, [Excerpt(*excerpt) for excerpt in excerpts])
    event: Event = _TYPES[kind](*values)
    return event


class EventLog:
    """Append-only, readable from any position. Whole blocks are compressed, since events resemble each other."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._tail: list[Event] = []
        self._tail_start = 0  # position of the first event of the tail

    def __len__(self) -> int:
        return self._tail_start + len(self._tail)

    def append(self, event: Event) -> None:
        """Add an event."""
        self._tail.append(event)
        if len(self._tail) == 2 * BLOCK_SIZE:  # the newest block stays as it is: subscribers need it next
            self._blocks.append(zlib.compress(dump_events(self._tail[:BLOCK_SIZE]).encode(), 1))
            del self._tail[:BLOCK_SIZE]
            self._tail_start += BLOCK_SIZE

    def read_batch(self, position: int) -> Sequence[Event]:
        """Some events from a position on. Empty only at the end of the log."""
        if position >= self._tail_start:
            return self._tail[position - self._tail_start :]
        block = zlib.decompress(self._blocks[position // BLOCK_SIZE]).decode()
        return load_events(block)[position % BLOCK_SIZE :]
