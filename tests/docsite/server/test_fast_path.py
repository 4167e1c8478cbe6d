"""The fast path agrees with the path that Ninja describes, for every endpoint and every fault."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError

from docsite.core.access import authentication
from docsite.core.http import ratelimit
from docsite.server.fast_path import routes
from docsite.server.routing import Http
from tests.variants import first_of

_numbers = count(1)
_CHANGING = re.compile(r"\d+|reference [0-9a-f]{16}")  # seconds left, requests left, references


@dataclass(frozen=True)
class Call:
    """A request."""

    path: str
    headers: dict[str, str]
    body: Any
    method: str = "POST"
    raw: bytes | None = None
    query: bytes = b""
    extensions: dict[str, Any] = field(default_factory=dict)

    def with_headers(self, **headers: str | None) -> "Call":
        """The request with other headers; None removes one."""
        merged = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return replace(self, headers={name: value for name, value in merged.items() if value is not None})


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


async def send(application: Any, call: Call) -> Answer:
    """Send a request to an application, without a server."""
    raw = json.dumps(call.body).encode() if call.raw is None else call.raw
    headers = {"host": "127.0.0.1", "content-type": "application/json", "content-length": str(len(raw)), **call.headers}
    scope = {
        "type": "http", "method": call.method, "path": call.path, "query_string": call.query, "scheme": "http",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
        "client": ("127.0.0.1", 5000), "server": ("127.0.0.1", 80), "extensions": call.extensions,
    }  # fmt: skip
    messages: list[Any] = [{"type": "http.request", "body": raw}]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop() if messages else await asyncio.Event().wait()

    async def receive_response(message: Any) -> None:
        sent.append(message)

    await application(scope, receive, receive_response)
    body = b"".join(message.get("body", b"") for message in sent[1:])
    assert not sent[-1].get("more_body")
    return Answer(sent[0]["status"], sent[0]["headers"], body)


def describe(answer: Answer) -> tuple[int, list[tuple[bytes, str]], str]:
    """A response without what differs between two requests."""
    headers = [(name.lower(), value.decode()) for name, value in answer.headers]
    is_stream = any(name == b"x-thread-id" for name, _ in headers)
    shown = [(name, "…" if name == b"x-thread-id" else _CHANGING.sub("…", value)) for name, value in headers]
    return answer.status, sorted(shown), "…" if is_stream else _CHANGING.sub("…", answer.body.decode())


@pytest.fixture
def application() -> Any:
    return Http().api


@pytest.fixture
def origin() -> str:
    return "https://docs.acme.example"


@pytest.fixture
def build(project, origin) -> Callable[[str], Call]:
    """A valid request for an endpoint."""

    def view() -> dict[str, str]:
        return {"id": f"view-{next(_numbers)}", "path": "/install"}

    def batch() -> dict[str, Any]:
        at = {"timestamp": datetime.now(UTC).isoformat(), "ip": "203.0.113.7", "userAgent": "Mozilla/5.0"}
        return {"views": [{**view(), **at}]}

    text = {"parts": [{"type": "text", "text": "How do I install acme?"}], "content": "How do I install acme?"}
    question = {"fp": "anonymous", "messages": [{"id": "m1", "role": "user", **text}]}
    browser = {"origin": origin}
    assistant, admin = (
        {"authorization": f"Bearer {project.assistant_key}"},
        {"authorization": f"Bearer {project.admin_key}"},
    )
    prefix, domain = "/discovery/v1", project.domain
    calls = {
        "search": lambda: Call(f"{prefix}/search/{domain}", assistant, {"query": "install"}),
        "getPage": lambda: Call(f"{prefix}/page/{domain}", assistant, {"path": "/install"}),
        "reportClick": lambda: Call(
            f"{prefix}/search/{domain}/click", browser, {"query": "install", "path": "/install", "position": 1}
        ),
        "reportView": lambda: Call(f"{prefix}/view/{domain}", browser, view()),
        "collectViews": lambda: Call(f"/v1/collect/{project.project_id}/views", admin, batch()),
        "askV1": lambda: Call(f"{prefix}/assistant/{domain}/message", assistant, question),
        "askV2": lambda: Call(f"/discovery/v2/assistant/{domain}/message", assistant, question),
    }
    assert set(calls) == set(routes.OPERATIONS)
    return lambda name: calls[name]()


def change_body(change: Callable[[dict[str, Any]], object]) -> Callable[[Call], Call]:
    def apply(call: Call) -> Call:
        body = json.loads(json.dumps(call.body))
        change(body)
        return replace(call, body=body)

    return apply


def set_first(value: Any) -> Callable[[Call], Call]:
    """Another value for the first field."""
    return change_body(lambda body: body.update({next(iter(body)): value}))


FAULTS: dict[str, Callable[[Call], Call]] = {
    "none": lambda call: call,
    "own origin": lambda call: call.with_headers(origin="http://127.0.0.1"),
    "allowed origin": lambda call: call.with_headers(origin="https://docs.acme.example"),
    "other origin": lambda call: call.with_headers(origin="https://evil.example"),
    "no origin": lambda call: call.with_headers(origin=None),
    "no key": lambda call: call.with_headers(authorization=None),
    "no token": lambda call: call.with_headers(authorization="Bearer "),
    "another scheme": lambda call: call.with_headers(authorization="Basic c3ZjOng="),
    "malformed key": lambda call: call.with_headers(authorization="Bearer svc_dsc_nothing"),
    "unknown key": lambda call: call.with_headers(authorization="Bearer svc_dsc_91fbfw54RCNHJ6ndcwtIv71ixWwZ1zZF02"),
    "reader token": lambda call: call.with_headers(x_reader_token="no.jwt"),
    "unknown project": lambda call: replace(call, path=re.sub(r"(acme|prj)[-_][\w-]+", "nobody", call.path)),
    "no project": lambda call: replace(call, path=re.sub(r"(acme|prj)[-_][\w-]+", "", call.path)),
    "slash at the end": lambda call: replace(call, path=f"{call.path}/"),
    "NUL in the path": lambda call: replace(call, path=call.path.replace("acme", "ac\0me").replace("prj", "p\0rj")),
    "query": lambda call: replace(call, query=b"a=1"),
    "NUL in the query": lambda call: replace(call, query=b"a=%00"),
    "bad query": lambda call: replace(call, query=b"a=\xff"),
    "GET": lambda call: replace(call, method="GET"),
    "HEAD": lambda call: replace(call, method="HEAD"),
    "PUT": lambda call: replace(call, method="PUT"),
    "DELETE": lambda call: replace(call, method="DELETE"),
    "OPTIONS": lambda call: replace(call, method="OPTIONS"),
    "preflight": lambda call: replace(call, method="OPTIONS").with_headers(origin="https://docs.acme.example"),
    "unknown host": lambda call: call.with_headers(host="evil.example:80:80"),
    "NUL in a cookie": lambda call: call.with_headers(cookie='a="\\000"'),
    "no body": lambda call: replace(call, raw=b""),
    "no JSON": lambda call: replace(call, raw=b"{"),
    "no object": lambda call: replace(call, raw=b"[]"),
    "no UTF-8": lambda call: replace(call, raw=b'{"\xff": 1}'),
    "NaN": lambda call: replace(call, raw=b'{"a": NaN}'),
    "deep": lambda call: replace(call, raw=b"[" * 100 + b"]" * 100),
    "empty object": lambda call: replace(call, body={}),
    "wrong type": set_first({"a": 1}),
    "number": set_first(5),
    "null": set_first(None),
    "empty": set_first(""),
    "NUL": set_first("a\0b"),
    "half of a pair": lambda call: set_first("X")(call) and replace(call, raw=b'{"query": "\\ud800"}'),
    "too long": set_first("a" * 5_000),
    "unknown field": change_body(lambda body: body.update({"nobodyKnows": 1})),
    "large": change_body(lambda body: body.update({"more": "a" * 70_000})),
    "large and wrong": lambda call: replace(call, body={"more": "a" * 70_000}),
    "too large for browsers": change_body(lambda body: body.update({"more": "a" * 130_000})),
    "too large": lambda call: replace(call, raw=b" " * (2 * 1024 * 1024 + 1)),
    "left out by the server": lambda call: replace(call, extensions={"docsite.body_too_large": True}),
    "compressed": lambda call: call.with_headers(content_encoding="gzip"),
    "text": lambda call: call.with_headers(content_type="text/plain;charset=UTF-8"),
    "form": lambda call: call.with_headers(content_type="application/x-www-form-urlencoded"),
    "no type": lambda call: call.with_headers(content_type=""),
    "Latin-1": lambda call: call.with_headers(content_type="application/json; charset=latin-1"),
    "prefetch": lambda call: call.with_headers(sec_purpose="prefetch"),
    "a crawler": lambda call: call.with_headers(user_agent="Googlebot/2.1 (+http://www.google.com/bot.html)"),
}


async def assert_agreement(application: Any, build: Callable[[str], Call], name: str, fault: Any) -> Answer:
    fast = await send(application, fault(build(name)))
    assert describe(fast) == describe(await send(application.other, fault(build(name))))
    return fast


@pytest.mark.parametrize("name", first_of(routes.OPERATIONS, 2))
async def test_both_agree_about_every_fault(application, build, name):
    for what, fault in FAULTS.items():
        answer = await assert_agreement(application, build, name, fault)
        assert (answer.status < 300) or what != "none", answer


@pytest.mark.parametrize("name", first_of(routes.OPERATIONS, 3))
async def test_both_agree_about_failures(application, build, name, monkeypatch, settings):
    for failure, status in (
        (OperationalError("gone"), 503),
        (RuntimeError("a mistake"), 500),
        (OSError(24, "many"), 503),
    ):

        def fail(*_: Any, failure: Exception = failure) -> None:
            raise failure

        with monkeypatch.context() as patch:
            for look_up in ("project_by_domain", "authenticate"):
                patch.setattr(authentication, look_up, fail)
            assert (await assert_agreement(application, build, name, FAULTS["none"])).status == status


@pytest.mark.parametrize("name", first_of(routes.OPERATIONS, 3))
async def test_both_agree_about_limits(application, build, name, settings, monkeypatch):
    limits = {field: "1/d" for field in type(django_settings.ENV).model_fields if field.startswith("limit_")}
    settings.ENV = django_settings.ENV.model_copy(update=limits)
    monkeypatch.setattr(ratelimit, "SLOW_DOWN_SECONDS", 0)
    await send(application, build(name))
    assert (await assert_agreement(application, build, name, FAULTS["none"])).status == 429


@pytest.mark.parametrize("name", first_of(routes.OPERATIONS, 3))
async def test_the_fast_path_serves_its_endpoints_alone(application, build, name):
    async def refuse(*_: Any) -> None:
        raise AssertionError("went to Django")

    application.other = refuse
    assert (await send(application, build(name))).status < 300
