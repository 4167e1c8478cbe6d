"""The OpenAPI document: what Ninja derives from the endpoints, and what it cannot know."""

from typing import Any

from ninja.schema import NinjaGenerateJsonSchema

from docsite.core.access.reader_tokens import MAX_LENGTH, READER_TOKEN_HEADER
from docsite.core.http.schemas import AnalyticsErrorResponse
from docsite.server.api import api

_TAGS = {
    "Analytics": "Exports for an organization: visitors, views, searches, questions and feedback.",
    "Collecting": "Reports of page views and feedback.",
    "Assistant": "Questions and their streamed answers.",
    "Search": "Search results and pages of a documentation site.",
    "Sources": "Documentation that a CI job pushes.",
}
_PATH_PARAMETERS = {
    "projectId": ("Id of the project, as the page of its API keys shows it.", "prj_1a2b3c"),
    "domain": ("Domain of the project: the name that you gave to `createproject`.", "acme"),
    "name": ("Name of the source, of your choice. Unique in the project.", "docs"),
    "threadId": ("Id of the conversation, from an export or from an answer.", "thr_abcdefghijklmnopqrstuvwxyz"),
    "chatId": ("The client's own id of the chat, as it was sent with the question.", "chat-1"),
}
_ERRORS = {  # descriptions, and the headers that always come with them
    400: ("The host, a parameter or a field is wrong. `details` says which.", ()),
    401: (
        "No key, or one that is unknown, revoked or expired; or a reader token that is not valid.",
        ("WWW-Authenticate",),
    ),
    403: ("The key, its address or the page's origin may not do this.", ()),
    404: ("No such thing, or it belongs to somebody else.", ()),
    405: ("The path does not take this method.", ("Allow",)),
    413: ("The body is too large.", ()),
    415: ("The body is not `application/json` in UTF-8, or it is encoded.", ()),
    429: ("A limit is used up.", ("Retry-After", "RateLimit", "RateLimit-Policy")),
    500: ("An error of the service, with a reference that its log explains.", ()),
    503: ("The database, Redis or the view log does not answer, or too many answers run.", ("Retry-After",)),
}
_BODY_ERRORS, _KEY_ERRORS = {413, 415}, {401}
_IMPOSSIBLE_ERRORS = {"getWidgetConfiguration": {403}, "pushSource": {415}}
_REF_TEMPLATE = "#/components/schemas/{model}"
_HEADERS = {
    "Allow": "The methods that the path takes.",
    "RateLimit": "Requests left, and seconds until the window ends.",
    "RateLimit-Policy": "The limits: requests, and seconds of a window.",
    "Retry-After": "Seconds to wait.",
    "WWW-Authenticate": "`Bearer`, with `error` if a key was sent.",
    "X-Thread-Id": "Id of the conversation.",
    "X-View": "Why the view is in no count.",
}
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
    """The document of the service at this address."""
    document: dict[str, Any] = api.get_openapi_schema(path_prefix="")
    document["servers"] = [{"url": base_url}]
    document["tags"] = [{"name": name, "description": text} for name, text in _TAGS.items()]
    error = AnalyticsErrorResponse.model_json_schema(
        ref_template=_REF_TEMPLATE, schema_generator=NinjaGenerateJsonSchema, mode="serialization"
    )
    document["components"]["schemas"] |= {**error.pop("$defs"), AnalyticsErrorResponse.__name__: error}
    document["components"]["headers"] = {
        name: {"description": text, "schema": {"type": "integer" if name == "Retry-After" else "string"}}
        for name, text in _HEADERS.items()
    }
    for methods in document["paths"].values():
        for operation in methods.values():
            _complete(operation)
    return document


def _complete(operation: dict[str, Any]) -> None:
    """Add what an operation needs: no key, an origin, errors, descriptions, headers."""
    for parameter in operation["parameters"]:
        if parameter["in"] == "path":
            parameter["description"], parameter["example"] = _PATH_PARAMETERS[parameter["name"]]
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
        description, headers = _ERRORS.get(status, ("", _success_headers(operation, status)))
        response["description"] = description or response["description"]
        if headers:
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
