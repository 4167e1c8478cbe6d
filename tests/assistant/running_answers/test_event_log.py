"""The event log: what is put in comes out, also from compressed blocks and through Redis."""

import sys

from assistant.running_answers.event_log import BLOCK_SIZE, EventLog, dump_events, load_events
from assistant.wire.events import Abort, Excerpt, Failure, Finish, Source, Start, Status, Text, ToolCall, ToolResult

EVENTS = [
    Start("msg_1", "thr_1"),
    ToolCall("call_1", "search", {"query": "how?"}),
    ToolResult("call_1", [Excerpt("/a", "https://x.example/a#b", "A", "B", "Some é words.", 0.5)]),
    Status("model", "why", {"pages": 4}),
    Source(1, "https://x.example/a", "A"),
    Text("[a] \0 é \ud83d"),
    Failure("sorry"),
    Abort(),
    Finish(3, 4, "length"),
]


def read_all(log: EventLog, position: int) -> list:
    events = []
    while position + len(events) < len(log):
        events += log.read_batch(position + len(events))
    return events


def test_events_survive_serialisation():
    assert load_events(dump_events(EVENTS)) == EVENTS


def test_a_growing_log_returns_all_its_events():
    log, wanted, got = EventLog(), [], []
    for number in range(1_000):
        event = Text(f"{number} é") if number % 9 else EVENTS[number // 9 % len(EVENTS)]
        log.append(event)
        wanted.append(event)
        if number % 97 == 0:
            got += read_all(log, len(got))
    got += read_all(log, len(got))
    assert got == wanted
    assert len(log) == len(wanted)
    for position in (0, 1, 63, 64, 65, 700, len(wanted) - 1, len(wanted)):
        assert read_all(log, position) == wanted[position:]


def test_whole_blocks_take_little_memory():
    log = EventLog()
    for number in range(20 * BLOCK_SIZE):
        log.append(Text(f"word {number % 50} "))
    assert len(log._tail) < 2 * BLOCK_SIZE
    assert sum(map(sys.getsizeof, log._blocks)) < 18 * BLOCK_SIZE * 8, "8 bytes for a token of 8 characters"


def test_a_result_of_a_tool_is_compressed_at_once():
    log = EventLog()
    result = ToolResult("call_1", [Excerpt("/a", "https://x.example/a", "A", "B", "Some words. " * 30, 0.5)] * 5)
    for event in (EVENTS[0], EVENTS[1], result, Text("a"), result, Text("b")):
        log.append(event)
    assert log._tail == [Text("b")]
    assert sum(map(len, log._blocks)) < 400
    for position in range(6):
        assert read_all(log, position) == [*EVENTS[:2], result, Text("a"), result, Text("b")][position:]


def test_at_its_end_a_log_has_nothing_to_read():
    log = EventLog()
    for number in range(3 * BLOCK_SIZE):
        assert list(log.read_batch(number)) == []
        log.append(Text(str(number)))
    assert list(log.read_batch(len(log))) == list(log.read_batch(10_000)) == []
