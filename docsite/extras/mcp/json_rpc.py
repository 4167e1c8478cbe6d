"""JSON-RPC 2.0 as MCP uses it: parse messages, build responses. No Django."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
# Codes of MCP.
RESOURCE_NOT_FOUND = -32002  # until protocol version 2025-11-25
HEADER_MISMATCH = -32020  # from 2026-07-28 on
UNSUPPORTED_VERSION = -32022

Id = str | int


@dataclass
class RpcError(Exception):
    """A request that cannot be answered. `message` is a sentence for whoever wrote the client."""

    code: int
    message: str
    data: Any = None

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Call:
    """A request, or a notification, whose id is None."""

    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    id: Id | None = None

    @property
    def meta(self) -> Mapping[str, Any]:
        """The `_meta` of the parameters."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


def parse_call(message: Any) -> Call | None:
    """The request or notification in a message. None for a response, which needs no answer. Raises `RpcError`."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'Send a JSON-RPC object with "jsonrpc": "2.0".')
    if "method" not in message and ("result" in message or "error" in message):
        return None
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "method: must be a string.")
    if "id" in message and find_id(message) is None:
        raise RpcError(INVALID_REQUEST, "id: must be a string or a whole number.")
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params: must be an object.")
    return Call(method, params, find_id(message))


def find_id(message: Any) -> Id | None:
    """The id of a message, even if the rest of the message is not valid."""
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def build_result(call_id: Id | None, result: Mapping[str, Any]) -> dict[str, Any]:
    """The response to a request that was answered."""
    return {"jsonrpc": "2.0", "id": call_id, "result": result}


def build_error(call_id: Id | None, error: RpcError) -> dict[str, Any]:
    """The response to a request that was not answered."""
    body = {"code": error.code, "message": error.message}
    return {"jsonrpc": "2.0", "id": call_id, "error": body if error.data is None else {**body, "data": error.data}}
