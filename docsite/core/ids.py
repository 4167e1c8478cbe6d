"""Prefixed random ids, and the random text of API keys."""

import base64
import secrets
import zlib

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _base32(length: int) -> str:
    """Five random bits for each character, `a-z2-7`."""
    return base64.b32encode(secrets.token_bytes(length)).decode().lower()[:length]


def project_id() -> str:
    """`prj_` and 100 random bits: an identifier, not a secret."""
    return "prj_" + _base32(20)


def thread_id() -> str:
    """`thr_` and 130 random bits: whoever knows it may read the conversation's history."""
    return "thr_" + _base32(26)


def message_id() -> str:
    """`msg_` and 130 random bits."""
    return "msg_" + _base32(26)


def feedback_id() -> str:
    """`fbk_` and 100 random bits: an identifier, not a secret."""
    return "fbk_" + _base32(20)


def receipt_id() -> str:
    """`ers_` and 100 random bits: an identifier, not a secret."""
    return "ers_" + _base32(20)


def delivery_id() -> str:
    """`dlv_` and 100 random bits: an identifier, not a secret."""
    return "dlv_" + _base32(20)


def event_id() -> str:
    """`evt_` and 100 random bits: an identifier, not a secret."""
    return "evt_" + _base32(20)


def support_request_id() -> str:
    """`sup_` and 100 random bits: an identifier, not a secret."""
    return "sup_" + _base32(20)


def reader_key_id() -> str:
    """`rdk_` and 100 random bits: an identifier, not a secret."""
    return "rdk_" + _base32(20)


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
