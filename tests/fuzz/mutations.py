"""Values and bytes that parsers must survive."""

import json
from random import Random
from typing import Any

DEEP = json.loads("[" * 200 + "]" * 200)
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 5.0, 1.5, 1e300, -0.0, 2**31, 2**53 + 1, 2**63, -(2**64), 10**400),
    *("", " ", "\n", "\t", "0", "-1", "null", "true", "x", "é", "日本語", "👩‍👩‍👧", "\u202e", "\ufeff", "a\u0300" * 40),
    *("\x00", "a\x00b", "\ud800", "\udfffx", "\x1b[31m", "\r\nX: y", "%00", "%", "../../etc/passwd", "/", "//x", "\\"),
    *("' OR 1=1 --", '"', "`", "NEAR(", "a AND", "*", "^", "col:x", "{{7*7}}", "${x}", "<script>", "</passage>"),
    *("<" * 3_000, "a." * 3_000, " " * 5_000, "[" * 4_000, "0123456789abcdef" * 300, "`" * 2_000, "]()" * 1_000),
    *("2026-02-30", "0001-01-01", "9999-12-31T23:59:59-14:00", "2026-01-01T00:00:00+99:99", "٣", "1_0", " 5", "1e3"),
    *("thr_" + "a" * 26, "msg_1", "anonymous", "user", "system", "text", "ask", "submit-message"),
    *([], {}, [[]], [None] * 300, {"": ""}, {"type": "text"}, [{"type": "text", "text": "x"}] * 100, DEEP),
]
PIECES = [
    *(
        b"\x00",
        b"\xff",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\\ud800",
        b"\\u0000",
        b"\\",
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
    ),
    *(
        b",",
        b":",
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"0x1",
        b"01",
        b"9" * 5_000,
        b"[" * 70,
        b"\xef\xbb\xbf",
        b"//",
        b"\r\n",
    ),
]


def mutate_value(random: Random, value: Any) -> Any:
    """The value with one part replaced, doubled, or left out."""
    if not isinstance(value, dict | list) or not value or random.random() < 0.15:
        return random.choice(VALUES)
    if isinstance(value, list):
        place = random.randrange(len(value))
        changed = [mutate_value(random, value[place])] * random.choice([0, 1, 1, 1, 2])
        return value[:place] + changed + value[place + 1 :]
    name = random.choice(list(value))
    fields = {**value, name: mutate_value(random, value[name])}
    if random.random() < 0.1:
        del fields[name]
    return fields


def write_json(value: Any) -> bytes:
    """The value as JSON, whatever it holds: lone surrogates are escaped, infinite numbers are names."""
    return json.dumps(value).encode()


def mutate_bytes(random: Random, raw: bytes) -> bytes:
    """The bytes cut, changed or extended in a few places."""
    for _ in range(random.randint(1, 3)):
        place, length = random.randint(0, len(raw)), random.randint(1, 8)
        before, after = raw[:place], raw[place:]
        new = random.choice([*PIECES, random.randbytes(length)])
        raw = random.choice(
            [before, after, before + after[length:], before + new + after, before + new + after[length:]]
        )
    return raw
