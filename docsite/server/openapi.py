"""The OpenAPI document: what Ninja derives from the endpoints, and what it cannot know."""

import threading
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from ninja.schema import NinjaGenerateJsonSchema

from docsite.core.access.reader_tokens import MAX_LENGTH, READER_TOKEN_HEADER
from docsite.core.http.schemas import AnalyticsErrorResponse
from docsite.server.api import api

_lock = threading.Lock()
_TEXTS = tomllib.loads((Path(__file__).parent / "openapi.toml").read_text(encoding="utf-8"))
_ERRORS: dict[int, dict[str, Any]] = {int(status): error for status, error in _TEXTS["errors"].items()}
_BODY_ERRORS, _KEY_ERRORS = {413, 415}, {401}
_IMPOSSIBLE_ERRORS = {"getWidgetConfiguration": {403}, "pushSource": {415}}
_REF_TEMPLATE = "#/components/schemas/{model}"
_ORIGIN = {
    "in": "header",
    "name": "Origin",
    "required": True,
    "description": "Origin of the page. Browsers send it. It must be on the project's list.",
    "schema": {"type": "string"},
    "example": "https://docs.acme.example",
}

_READER_TOKEN = {
    "in": "header",
    "name": READER_TOKEN_HEADER,
    "required": False,
    "description": "A token that the owner's site has signed, with the groups of a reader of protected pages.",
    "schema": {"type": "string", "maxLength": MAX_LENGTH},
}


def build_document(base_url: str) -> dict[str, Any]:
    """The document of the service at this address. The first call of a process takes a few hundred milliseconds."""
    with _lock:  # of requests at once, the first builds it
        document = _describe_endpoints()
    return {**document, "servers": [{"url": base_url}]}


@cache
def _describe_endpoints() -> dict[str, Any]:
    """The OpenAPI document without `servers`, the part that depends on the address of a request."""
    document: dict[str, Any] = api.get_openapi_schema(path_prefix="")
    document["tags"] = [{"name": name, "description": text} for name, text in _TEXTS["tags"].items()]
    error = AnalyticsErrorResponse.model_json_schema(
        ref_template=_REF_TEMPLATE, schema_generator=NinjaGenerateJsonSchema, mode="serialization"
    )
    document["components"]["schemas"] |= {**error.pop("$defs"), AnalyticsErrorResponse.__name__: error}
    document["components"]["headers"] = {
        name: {"description": text, "schema": {"type": "integer" if name == "Retry-After" else "string"}}
        for name, text in _TEXTS["headers"].items()
    }
    for methods in document["paths"].values():
        for operation in methods.values():
            _complete(operation)
    return document


def _complete(operation: dict[str, Any]) -> None:
    """Add what an operation needs: no key, an origin, errors, descriptions, headers."""
    for parameter in operation["parameters"]:
        if parameter["in"] == "path":
            parameter |= _TEXTS["path_parameters"][parameter["name"]]
    if "security" not in operation:
        operation["security"] = []
        # Endpoints that take a body without a key are called by browsers, which send an Origin.
        if body := operation.get("requestBody"):
            operation["parameters"].append(_ORIGIN)
            body["description"] = "Browsers may also send it as `text/plain`, which needs no preflight."
    if {"AssistantKey": []} in operation["security"]:
        operation["parameters"].append(_READER_TOKEN)
    operation["responses"] |= {status: _error_response() for status in _list_errors(operation)}
    for status, response in operation["responses"].items():
        error = _ERRORS.get(status, {"headers": _success_headers(operation, status)})
        response["description"] = error.get("description") or response["description"]
        if headers := error["headers"]:
            response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in headers}


def _list_errors(operation: dict[str, Any]) -> list[int]:
    """The statuses of the errors that an operation may return."""
    impossible = {
        *_IMPOSSIBLE_ERRORS.get(operation["operationId"], ()),
        *(() if "requestBody" in operation else _BODY_ERRORS),
        *(() if operation["security"] else _KEY_ERRORS),
    }
    return [status for status in _ERRORS if status not in impossible]


def _error_response() -> dict[str, Any]:
    reference = _REF_TEMPLATE.format(model=AnalyticsErrorResponse.__name__)
    return {"content": {"application/json": {"schema": {"$ref": reference}}}}


def _success_headers(operation: dict[str, Any], status: int) -> tuple[str, ...]:
    if status == 202:
        return ("X-View",)
    streams = "application/json" not in operation["responses"][status].get("content", {"application/json": ""})
    return ("X-Thread-Id",) if streams and operation["tags"] == ["Assistant"] else ()
