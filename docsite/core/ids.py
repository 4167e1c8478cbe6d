"""Prefixed random ids, and the random text of API keys."""

import base64
import secrets
import zlib
from functools import partial

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _create(prefix: str, length: int) -> str:
    """A prefix and five random bits for each character, `a-z2-7`."""
    return prefix + base64.b32encode(secrets.token_bytes(length)).decode().lower()[:length]


# With 100 random bits, they are identifiers and no secrets.
project_id = partial(_create, "prj_", 20)
feedback_id = partial(_create, "fbk_", 20)
receipt_id = partial(_create, "ers_", 20)
delivery_id = partial(_create, "dlv_", 20)
event_id = partial(_create, "evt_", 20)
support_request_id = partial(_create, "sup_", 20)
reader_key_id = partial(_create, "rdk_", 20)
# With 130, they are secrets: whoever knows the id of a thread may read the conversation's history.
thread_id = partial(_create, "thr_", 26)
message_id = partial(_create, "msg_", 26)


def salt() -> str:
    """256 random bits in hexadecimal."""
    return secrets.token_hex(32)


def token(prefix: str) -> str:
    """An API key: prefix, 28 base62 characters (166 random bits), 6 characters of checksum.

    The checksum lets the server and secret scanners reject typing errors without
    a look-up. It adds no security. The page Security publishes an expression that finds keys.
    """
    secret = "".join(secrets.choice(BASE62) for _ in range(28))
    return prefix + secret + _checksum(prefix + secret)


def is_token(text: str) -> bool:
    """Whether a text ends in the checksum of the rest."""
    return len(text) > 6 and text.isascii() and _checksum(text[:-6]) == text[-6:]


def _checksum(text: str) -> str:
    number = zlib.crc32(text.encode())
    digits = []
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits.append(BASE62[digit])
    return "".join(reversed(digits))
