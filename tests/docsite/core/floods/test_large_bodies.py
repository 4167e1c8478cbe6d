"""Parsing a large body holds up other threads for some 50 ms at most, and for less than Python's own parser would."""

import json
import re
import threading
import time
from collections.abc import Callable

import pytest

from assistant.asking.schemas import AskV2
from docsite.core.http.body import MAX_NAMES, parse, parse_object
from docsite.core.http.errors import BadRequest
from tests.conftest import question
from tests.variants import first_of

SIZE = 2 * 1024 * 1024 - 400  # bytes


def fill(item: bytes, count: int = SIZE) -> bytes:
    """As many of these items as fit, at most `count`, with commas between them. `%d` is the number of an item."""
    size = len(item % 100_000 if b"%" in item else item) + 1
    numbers = range(min(count, SIZE // size))
    return (
        b",".join(item % (100_000 + number) for number in numbers) if b"%" in item else b",".join([item] * len(numbers))
    )


def ask(extra: bytes = b'"x": 1', message: bytes = b'"id": "1"') -> bytes:
    return b'{%s, "fp": "anonymous", "messages": [{"role": "user", %s}, {"role": "user", "content": "Why?"}]}' % (
        extra, message,
    )  # fmt: skip


NAME = b'"%d":1'
LARGE: dict[str, tuple[Callable[[], bytes], str]] = {  # bodies are made when they are used: together they take 28 MB
    "escapes in one text": (lambda: ask(b'"x": "%s"' % (b"\\u0041" * (SIZE // 6))), ""),
    "a text of escapes in a list": (lambda: ask(b'"x": [%s]' % fill(b'"\\u0041"')), ""),
    "escaped backslashes before NUL": (lambda: ask(b'"x": [%s]' % fill(b'"\\\\u0000"')), ""),
    "halves of pairs": (lambda: ask(b'"x": [%s]' % fill(b'"\\ud800"')), r"body: not JSON \(.*surrogate pair"),
    "as many names as allowed": (lambda: ask(fill(NAME, MAX_NAMES - 10)), ""),
    "names in a message": (lambda: ask(message=fill(NAME, MAX_NAMES - 10)), ""),
    "170,000 names": (lambda: ask(fill(NAME, 170_000)), f"body: more than {MAX_NAMES} names"),
    "names in half a pair": (
        lambda: ask(b'"x": "\\ud800", ' + fill(NAME, 90_000)), r"body: not JSON \(.*surrogate pair",
    ),
    "colons in a text": (lambda: ask(b'"x": "%s"' % (b": \\\\\\\":" * (SIZE // 9))), ""),
    "parts": (lambda: ask(message=b'"parts": [%s]' % fill(b'{"type":"t"}')), ""),
    "parts with text": (lambda: ask(message=b'"parts": [%s]' % fill(b'{"type":"text","text":"x"}')), ""),
    "wrong parts": (lambda: ask(message=b'"parts": [%s]' % fill(b'{"type":1}')), r"messages\.0\.parts\.0\.type: "),
    "numbers": (lambda: ask(b'"x": [%s]' % fill(b"1.5", 390_000)), ""),
    "bytes that break off": (lambda: ask(fill(NAME, 90_000))[:-1], r"body: not JSON \("),
}  # fmt: skip


def measure_hold(run: Callable[[], object]) -> float:
    """The longest time for which no other thread could run, in seconds of CPU time of this process."""
    thread = threading.Thread(target=run)
    longest, before = 0.0, time.process_time()
    thread.start()
    while thread.is_alive():
        time.sleep(0.0005)
        now = time.process_time()
        longest, before = max(longest, now - before), now
    thread.join()
    return longest


@pytest.fixture(scope="module")
def longest_hold() -> float:
    """The longest hold that is allowed on this machine, in seconds of CPU time.

    It is three fifths of what `json.loads`, which holds up all threads for its whole time, needs for many names.
    """
    raw = LARGE["170,000 names"][0]()
    times = []
    for _ in range(3):
        began = time.thread_time()
        json.loads(raw)
        times.append(time.thread_time() - began)
    return min(times) * 0.6


@pytest.mark.parametrize("name", first_of(LARGE, 2))
def test_a_large_body_is_parsed_while_others_run(name, longest_hold):
    make, refusal = LARGE[name]
    raw = make()
    refusals: list[str] = []

    def run() -> None:
        try:
            parse(AskV2, raw)
        except BadRequest as wrong:
            refusals.append(wrong.details[0])

    holds = []
    while len(holds) < 5 and min(holds, default=longest_hold) >= longest_hold:  # another process may disturb one
        holds.append(measure_hold(run))
    assert min(holds) < longest_hold
    assert len(raw) <= 2 * 1024 * 1024
    assert bool(refusals) is bool(refusal)
    assert re.match(refusal, "".join(refusals[:1]))


HALF = "JSON is malformed: unexpected end of escaped utf-16 surrogate pair"
FAULTS = {
    b'{"a": ["x", "\\ud800"]}': "a.1: contains half of a surrogate pair",
    b'{"\\udc00": 1}': "body: contains half of a surrogate pair",
    b'{"a": "\\\\\\u0000"}': "a: contains a NUL character",
    b'{"a": "\x00"}': "body: not JSON (JSON is malformed: invalid character (byte 7))",
    b'{"a": NaN}': "body: not JSON (JSON is malformed: invalid character (byte 6))",
    b'{"a": 1e400}': "body: a number is out of range",
    b'{"a": %s}' % (b"9" * 5000): "body: a number is out of range",
    b'{"\xff": 1}': "body: not UTF-8",
    b'{"a": ["\\ud800", tru]}': f"body: not JSON ({HALF} (byte 14))",
    b'{"a": ["\\ud800", "\xff"]}': f"body: not JSON ({HALF} (byte 14))",
}  # fmt: skip


@pytest.mark.parametrize("raw", FAULTS)
def test_a_fault_is_named_with_its_place(raw):
    with pytest.raises(BadRequest) as wrong:
        parse_object(raw)
    assert wrong.value.details == (FAULTS[raw],)


def test_what_only_looks_like_a_fault_is_read():
    body = {"a": "\\u0000", "b": ["\\\\ud800", '"type": "\\u0000"'], "c": {"😀": 18446744073709551616}, "d": -1.5e-3}
    for ascii in (True, False):
        assert parse_object(json.dumps(body, ensure_ascii=ascii).encode()) == body
    assert parse_object(json.dumps(question("x" + ":" * 200_000)).encode())["messages"]
