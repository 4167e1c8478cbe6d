"""The service under test: its address and keys, and how a check calls it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

Check = Callable[["Service"], None]


class Violation(Exception):
    """What a service did instead of what the contract says, as a sentence."""


@dataclass(frozen=True)
class Service:
    """A service. Without `admin_key` and `project_id`, analytics are not checked."""

    client: httpx.Client  # with the address of the service
    domain: str
    key: str
    question: str
    admin_key: str = ""
    project_id: str = ""

    def post(self, path: str, body: Any, key: str | None = None, accept: str = "*/*") -> httpx.Response:
        """POST a JSON body to a path below `/discovery`, with `{domain}` filled in. `key`: another one; empty: none."""
        address = "/discovery" + path.format(domain=self.domain)
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Accept": accept, **_bearer(self.key if key is None else key)}
        return self.client.post(address, content=content, headers=headers)

    def get(self, report: str, key: str | None = None, project_id: str = "", **query: Any) -> httpx.Response:
        """GET a report of the project's analytics."""
        address = f"/v1/analytics/{project_id or self.project_id}/{report}"
        return self.client.get(address, params=query, headers=_bearer(self.admin_key if key is None else key))

    def ask(self, version: str, accept: str = "*/*", **changes: Any) -> httpx.Response:
        """Ask the question in one protocol, `v1` or `v2`, and read the whole stream."""
        message = {"id": "conform-1", "role": "user", "content": self.question}
        message["parts"] = [{"type": "text", "text": self.question}]  # type: ignore[assignment]
        body: dict[str, Any] = {"fp": "conformance", "messages": [message], "currentPath": "/"}
        if version == "v2":
            del message["content"]
            body |= {"id": "conformance-chat", "trigger": "submit-message"}
        body |= changes
        response = self.post(f"/{version}/assistant/{{domain}}/message", body, accept=accept)
        expect(response.status_code == 200, f"status {response.status_code}: {response.text[:200]}")
        return response


def expect(condition: object, sentence: str) -> None:
    """Raise a violation unless the condition holds."""
    if not condition:
        raise Violation(sentence)


def expect_error(response: httpx.Response, *statuses: int, naming: str = "") -> None:
    """The one shape of an error: a sentence, and on 400 details, one of which begins with the field's name."""
    wanted = " or ".join(map(str, statuses))
    expect(response.status_code in statuses, f"status {response.status_code} instead of {wanted}")
    body = load_json(response)
    expect(isinstance(body, dict) and isinstance(body.get("error"), str) and body["error"], "no sentence in `error`")
    if naming:
        details = body.get("details")
        expect(isinstance(details, list) and all(isinstance(one, dict) for one in details), "no list in `details`")
        messages = [str(detail.get("message", "")) for detail in details]
        expect(any(message.startswith(naming) for message in messages), f"no detail names {naming}: {messages}")


def load_json(response: httpx.Response) -> Any:
    """The body as strict JSON."""
    try:
        return parse_json(response.text)
    except ValueError:
        raise Violation(f"the body is not JSON: {response.text[:80]!r}") from None


def parse_json(text: str) -> Any:
    """Parse JSON. Raises ValueError for `NaN` and the like, too, which ends the stream of real clients."""
    return json.loads(text, parse_constant=_refuse_constant)


def expect_shape(value: Any, shape: dict[str, type | tuple[type, ...]], what: str) -> None:
    """An object with these fields of these types. A boolean is no number."""
    expect(isinstance(value, dict), f"{what} is no object")
    for name, kinds in shape.items():
        expect(name in value, f"{what} has no `{name}`")
        accepts_boolean = kinds is bool or (isinstance(kinds, tuple) and bool in kinds)
        fits = isinstance(value[name], kinds) and (accepts_boolean or not isinstance(value[name], bool))
        expect(fits, f"`{name}` of {what} is {value[name]!r}")


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)
