"""Frames for the widget's socket: valid messages, changed ones, and frames that break the protocol."""

import json
import struct
from random import Random
from typing import Any

from tests.conftest import Tenant
from tests.fuzz import mutations

TEXT, BINARY, CLOSE, PING, PONG = 0x1, 0x2, 0x8, 0x9, 0xA
CONTINUATION = 0x0
QUESTIONS = ["How do I install acme?", "hello", "Where is `ACME_HOME`?", "<" + " " * 500, "日本語", "a." * 2_000]
LIMIT = 2 * 1024 * 1024  # bytes of a message


def frame(opcode: int, payload: bytes, *, final: bool = True, reserved: int = 0, masked: bool = True) -> bytes:
    """One frame of a client."""
    first = (0x80 if final else 0) | reserved << 4 | opcode
    mask_bit = 0x80 if masked else 0
    if len(payload) < 126:
        head = struct.pack("!BB", first, mask_bit | len(payload))
    elif len(payload) < 65536:
        head = struct.pack("!BBH", first, mask_bit | 126, len(payload))
    else:
        head = struct.pack("!BBQ", first, mask_bit | 127, len(payload))
    return head + (bytes(4) if masked else b"") + payload  # a mask of zeros changes nothing


class Frames:
    """Makes frames for one tenant. The same seed makes the same frames."""

    def __init__(self, tenant: Tenant, random: Random) -> None:
        self._tenant = tenant
        self._random = random

    def of_a_socket(self, most: int) -> list[bytes]:
        """Frames to send on one socket, at most this many. Half of the sockets keep to the protocol."""
        highest = self._random.choice([0.65, 1.0])
        return [self._one(self._random.random() * highest) for _ in range(self._random.randint(1, most))]

    def _one(self, kind: float) -> bytes:
        """A frame, or a message in several frames."""
        if kind < 0.25:
            return frame(TEXT, json.dumps(self._message()).encode())
        if kind < 0.6:
            return frame(TEXT, self._changed())
        if kind < 0.65:
            return self._pieces(self._changed())
        if kind < 0.97:
            return self._unusual()
        return self._huge()

    def _message(self) -> dict[str, Any]:
        random = self._random
        message = {
            "type": random.choice(["ask", "ask", "stop", "resume"]),
            "key": self._tenant.assistant_key if random.random() < 0.9 else "svc_dsc_" + "x" * 40,
            "fp": random.choice(["anonymous", "reader-1"]),
            "threadId": random.choice([None, "thr_" + "a" * 26]),
        }
        if message["type"] == "ask":
            text = random.choice(
                ["How do I install acme?", "hello", "Where is `ACME_HOME`?", "<" + " " * 500, "日本語"]
            )
            parts = [{"type": "text", "text": text}]
            message |= {"messages": [{"id": "m1", "role": "user", "parts": parts}], "currentPath": "/install"}
            message |= random.choice([{}, {"id": f"chat-{random.randrange(5)}"}, {"trigger": "regenerate-message"}])
        if message["type"] == "resume":
            message |= {"threadId": "thr_" + "a" * 26, "messageId": "msg_1", "after": random.choice([0, 3, 10**6])}
        return message

    def _changed(self) -> bytes:
        """A message with a few changes to its values or its bytes."""
        value: Any = self._message()
        for _ in range(self._random.randint(1, 3)):
            value = mutations.mutate_value(self._random, value)
        raw = mutations.write_json(value)
        return mutations.mutate_bytes(self._random, raw) if self._random.random() < 0.4 else raw

    def _pieces(self, raw: bytes) -> bytes:
        """A message in several frames, sometimes with a ping between them, or without its end."""
        size = max(1, len(raw) // self._random.randint(2, 9))
        pieces = [raw[start : start + size] for start in range(0, len(raw), size)] or [b""]
        frames = [
            frame(CONTINUATION if number else TEXT, piece, final=number == len(pieces) - 1)
            for number, piece in enumerate(pieces)
        ]
        if self._random.random() < 0.3:
            frames.insert(1, frame(PING, b"between"))
        return b"".join(frames[:-1] if self._random.random() < 0.1 else frames)

    def _unusual(self) -> bytes:
        """A frame that is no text message, or that the protocol forbids."""
        random = self._random
        return random.choice(
            [
                frame(BINARY, random.randbytes(random.choice([0, 1, 1_000]))),
                frame(BINARY, json.dumps(self._message()).encode()),
                frame(TEXT, b""),
                frame(TEXT, random.randbytes(200)),
                frame(TEXT, "\ud800".encode("utf-8", "surrogatepass")),
                frame(TEXT, b'{"type": "ask"', final=False),
                frame(TEXT, b"[" * 100_000),
                frame(CONTINUATION, b"of nothing"),
                frame(PING, random.randbytes(random.choice([0, 125, 126]))),
                frame(PONG, b"not asked"),
                frame(CLOSE, b""),
                frame(CLOSE, b"\x03"),
                frame(CLOSE, struct.pack("!H", random.choice([0, 999, 1000, 1005, 1011, 3000, 4999, 65535])) + b"x"),
                frame(random.choice([3, 7, 11, 15]), b"x"),
                frame(TEXT, b"{}", reserved=random.randint(1, 7)),
                frame(TEXT, b"{}", masked=False),
                struct.pack("!BBQ", 0x81, 0xFF, 2**63 + 5) + bytes(4),
                struct.pack("!BBQ", 0x81, 0xFF, 2**40) + bytes(4) + b"{",
                frame(TEXT, b'{"type": "stop"}')[: random.randint(1, 12)],
            ]
        )

    def _huge(self) -> bytes:
        """A message about as long as the limit."""
        size = self._random.choice([100_000, LIMIT - 200, LIMIT + 1, 2 * LIMIT + 1])
        filler = self._random.choice([b" ", b"[", b'{"a":', b"<", b"a."])
        begin = self._random.choice([b"", json.dumps(self._message()).encode()])
        return frame(TEXT, begin + filler * (size // len(filler)))
