"""The events of a running answer, compressed: hundreds of answers are in memory at once, for readers who come back."""

import json
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from assistant.wire import events
from assistant.wire.events import Event, Excerpt, Text, ToolResult

BLOCK_SIZE = 32  # events
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
    """Append-only, readable from any position. Blocks of events are compressed, since these resemble each other.

    The newest events stay as they are: subscribers need them next. But a tool's result, which most of them get at once
    (see `waiting.Push`), ends a block: it takes as much memory as a hundred tokens.
    """

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._starts: list[int] = []  # positions of their first events
        self._tail: list[Event] = []
        self._tail_start = 0  # position of the first event of the tail

    def __len__(self) -> int:
        return self._tail_start + len(self._tail)

    def append(self, event: Event) -> None:
        """Add an event."""
        self._tail.append(event)
        if isinstance(event, ToolResult):
            self._compress(len(self._tail))
        elif len(self._tail) == 2 * BLOCK_SIZE:
            self._compress(BLOCK_SIZE)

    def read_batch(self, position: int) -> Sequence[Event]:
        """Some events from a position on. Empty only at the end of the log."""
        if position >= self._tail_start:
            return self._tail[position - self._tail_start :]
        number = bisect_right(self._starts, position) - 1
        block = zlib.decompress(self._blocks[number]).decode()
        return load_events(block)[position - self._starts[number] :]

    def _compress(self, count: int) -> None:
        """Make a block of the first events of the tail."""
        self._blocks.append(zlib.compress(dump_events(self._tail[:count]).encode(), 1))
        self._starts.append(self._tail_start)
        del self._tail[:count]
        self._tail_start += count
