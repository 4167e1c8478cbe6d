"""Whether a response is one that the OpenAPI document and the error shape allow."""

import re
from typing import Any

from openapi_schema_validator import OAS31Validator
from requests import PreparedRequest, Response

from tests.fuzz.generator import Label


class Judge:
    """Compares responses with the OpenAPI document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._validators: dict[str, OAS31Validator] = {}

    def fault(self, label: Label, request: PreparedRequest, response: Response) -> str:
        """What is wrong with a response; empty if it is right."""
        status, kind = response.status_code, response.headers.get("Content-Type", "")
        if status >= 500 and not (status == 503 and "Retry-After" in response.headers):
            return f"status {status}"
        if status >= 400 and (wrong := _error_fault(response)):
            return wrong
        method, template = label
        if not self._is_path_of(request, template):  # a changed path
            return "" if status in (400, 401, 403, 404, 405, 429) else f"status {status} on an unknown path"
        described = self._document["paths"][template][method.lower()]["responses"].get(str(status))
        if described is None:
            return f"status {status} is not in the document"
        if missing := [name for name in described.get("headers", {}) if name not in response.headers]:
            return f"no header {', '.join(missing)}"
        content = described.get("content")
        if content is None:
            return "a body where the document has none" if response.content else ""
        if kind.partition(";")[0] not in content:
            return f"type {kind} is not in the document"
        if kind.startswith("application/json"):
            return self._schema_fault(content["application/json"]["schema"], response)
        return ""

    def _is_path_of(self, request: PreparedRequest, template: str) -> bool:
        path = (request.url or "").partition("?")[0].partition("://")[2].partition("/")[2]
        pattern = re.sub(r"{\w+}", "[^/]+", template)
        return re.fullmatch(pattern, f"/{path}") is not None

    def _schema_fault(self, schema: dict[str, Any], response: Response) -> str:
        key = repr(schema)
        if key not in self._validators:
            self._validators[key] = OAS31Validator({**schema, "components": self._document["components"]})
        return "".join(error.message[:200] for error in self._validators[key].iter_errors(response.json()))


def _error_fault(response: Response) -> str:
    """The difference to the one shape of errors."""
    try:
        body = response.json()
    except ValueError:
        return f"an error that is no JSON: {response.content[:80]!r}"
    if not isinstance(body, dict) or not set(body) <= {"error", "details"} or not body.get("error", "").endswith("."):
        return f"an error of another shape: {response.text[:80]}"
    details = body.get("details", [])
    if response.status_code == 400 and not details:
        return "a 400 without details"
    if not all(set(detail) == {"message"} and ": " in detail["message"] for detail in details):
        return f"details of another shape: {response.text[:80]}"
    if len(response.content) > 64 * 1024:
        return f"an error of {len(response.content)} bytes"
    headers = response.headers
    if headers.get("X-Content-Type-Options") != "nosniff" or "no-store" not in headers.get("Cache-Control", ""):
        return "an error without nosniff or no-store"
    return ""
