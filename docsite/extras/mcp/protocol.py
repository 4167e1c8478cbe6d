"""The versions of MCP: which are supported, and what the headers of a request must say. No Django.

Clients of the older versions begin with `initialize` and name the agreed version in a header from then on. From
2026-07-28 on there is no handshake: each request carries version, client and capabilities in its `_meta`.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from docsite.extras.mcp.json_rpc import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION, Call, RpcError

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSIONS = ("2026-07-28",)
VERSIONS = (*HANDSHAKE_VERSIONS, *STATELESS_VERSIONS)
ASSUMED_VERSION = "2025-03-26"  # of a request without the header, as the protocol says
BATCH_VERSION = "2025-03-26"  # the only one with batches

_PREFIX = "io.modelcontextprotocol/"
VERSION_KEY = f"{_PREFIX}protocolVersion"
CAPABILITIES_KEY = f"{_PREFIX}clientCapabilities"
CLIENT_KEY = f"{_PREFIX}clientInfo"
SERVER_KEY = f"{_PREFIX}serverInfo"

_NAMED_BY = {"tools/call": "name", "resources/read": "uri"}  # the parameter that `Mcp-Name` repeats
_BASE64_START, _BASE64_END = "=?base64?", "?="


def choose_version(wanted: Any) -> str:
    """The version that `initialize` agrees on: the client's if it is supported, else the newest with `initialize`."""
    return wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]


def parse_version(headers: Mapping[str, str]) -> str:
    """The version in the headers of a request. Raises `RpcError` if it is not supported."""
    version = headers.get("MCP-Protocol-Version") or ASSUMED_VERSION
    if version not in VERSIONS:
        data = {"supported": list(VERSIONS), "requested": version[:40]}
        raise RpcError(UNSUPPORTED_VERSION, "This version of the protocol is not spoken here.", data)
    return version


def check_envelope(call: Call, headers: Mapping[str, str]) -> None:
    """Check the `_meta` and the headers of a request without a handshake. Raises `RpcError`."""
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in call.meta]
    if missing:
        raise RpcError(INVALID_PARAMS, f"params._meta: {' and '.join(missing)} must be sent with each request.")
    if call.meta[VERSION_KEY] != headers.get("MCP-Protocol-Version"):
        raise RpcError(HEADER_MISMATCH, "The header MCP-Protocol-Version and params._meta name different versions.")
    if headers.get("Mcp-Method") != call.method:
        raise RpcError(HEADER_MISMATCH, "The header Mcp-Method must repeat the method.")
    name = call.params.get(_NAMED_BY.get(call.method, ""))
    if name is not None and _decode(headers.get("Mcp-Name", "")) != name:
        raise RpcError(HEADER_MISMATCH, f"The header Mcp-Name must repeat params.{_NAMED_BY[call.method]}.")


def _decode(value: str) -> str | None:
    """The value of a header. A value that headers cannot carry is sent as `=?base64?…?=`. None if that is broken."""
    if not (value.startswith(_BASE64_START) and value.endswith(_BASE64_END)):
        return value
    try:
        return base64.b64decode(value[len(_BASE64_START) : -len(_BASE64_END)], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
