"""`conform` passes against the service, and each of its checks fails against a service that breaks its rule."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from django.core.management import CommandError, call_command

from docsite.extras.conformance.runner import SECTIONS, run_checks
from docsite.extras.conformance.service import Service as Target
from tests.conftest import PATIENCE, Service, Tenant
from tests.variants import first_of

pytestmark = pytest.mark.slow

QUESTION = "How do I install acme?"
Damage = Callable[[httpx.Request, str], str]
Answers = dict[tuple[object, ...], httpx.Response]


@pytest.fixture(scope="module")
def visited(shared_project: Tenant, service: Service) -> Tenant:
    """A project with views of several pages."""
    project = shared_project
    at = datetime.now(UTC).isoformat()
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    views = [
        {"id": f"conform-{number}-{path}", "path": path, "timestamp": at, "ip": f"198.51.100.{number}"}
        | {"userAgent": agent}
        for number, path in enumerate(["/", "/install", "/install", "/configure"], 1)
    ]
    address = f"{service.url}/v1/collect/{project.project_id}/views"
    with httpx.Client(timeout=PATIENCE, trust_env=False) as http:
        assert http.post(address, json={"views": views}, headers=project.admin).status_code == 200
    return project


@pytest.fixture(scope="module")
def answers() -> Answers:
    """What the service has answered, by request: each damage is done to the same answers."""
    return {}


def run_through(
    service: Service, tenant: Tenant, answers: Answers, damage: Damage, status: int | None = None
) -> dict[str, str]:
    """The problem of each rule that is broken when each answer of the service is damaged on its way."""
    with httpx.Client(timeout=PATIENCE, trust_env=False) as real:

        def forward(request: httpx.Request) -> httpx.Response:
            sent = _without_host(request.headers)
            asked = (request.method, request.url, request.read(), *sent.items())
            if asked not in answers:
                answers[asked] = real.request(request.method, request.url, content=request.content, headers=sent)
            answer = answers[asked]
            headers = {
                name: value
                for name, value in answer.headers.items()
                if name not in ("content-length", "content-encoding", "transfer-encoding")
            }
            text = damage(request, answer.text)
            return httpx.Response(status or answer.status_code, headers=headers, text=text)

        client = httpx.Client(base_url=service.url, transport=httpx.MockTransport(forward))
        target = Target(client, tenant.domain, tenant.assistant_key, QUESTION, tenant.admin_key, tenant.project_id)
        return {result.rule: result.problem for result in run_checks(target) if result.problem}


def _without_host(headers: httpx.Headers) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name in ("authorization", "content-type", "origin")}


def test_the_service_conforms(
    service: Service, visited: Tenant, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All checks of the command pass, analytics included. Without its keys, the command says so."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    keys = ["--domain", visited.domain, "--key", visited.assistant_key, "--question", QUESTION]
    call_command("conform", service.url, *keys, "--admin-key", visited.admin_key, "--project", visited.project_id)
    output = capsys.readouterr().out
    total = sum(map(len, SECTIONS.values()))
    assert f"All {total} checks passed." in output
    with pytest.raises(CommandError, match=r"^\d+ of \d+ checks failed\.$"):
        call_command("conform", service.url, "--domain", "nowhere", "--key", visited.assistant_key)
    assert "Analytics were not checked" in capsys.readouterr().out


def test_no_check_passes_for_a_service_that_only_fails(service: Service, visited: Tenant, answers: Answers) -> None:
    """Pages of HTML with status 500 break every rule."""
    broken = run_through(service, visited, answers, lambda request, text: "<h1>Server error</h1>", 500)
    assert set(broken) == {check.__doc__ for checks in SECTIONS.values() for check in checks}


def replace(pattern: str, new: str) -> Damage:
    """Replace a pattern in each answer."""
    return lambda request, text: re.sub(pattern, new, text)


@pytest.mark.parametrize(
    ("damage", "rule"),
    first_of(
        [
            (replace(r'"details": ?\[\{"message": ?"pageSize', '"details":[{"message":"size'), "A value out of bounds"),
            (replace(r'"score": ?[\d.]+', '"score":1.5'), "`score` is from 0 to 1"),
            (replace(r"\Af:", "z:1\nf:"), "Each line is a code"),
            (replace(r'"promptTokens": ?\d+', '"promptTokens":NaN'), "Each line is a code"),
            (replace(r"(?m)^8:\[.*$", "8:[]"), "`finish` with the thread id"),
            (replace(r'(?m)^a:(\{.*"result": ?)\[.*\]\}$', r'a:\1{"results": []}}'), "A search is a tool call"),
            (replace(r'"type": ?"finish"', '"type":"finish","finishReason":"stop"'), "Each event is of a known type"),
            (
                replace(r'"type": ?"text-start", ?"id": ?"[^"]*"', '"type":"text-start","id":"other"'),
                "Text comes between",
            ),
            (replace(r',? ?"providerExecuted": ?true', ""), "A search is a tool part"),
            (replace(r'"total": ?(\d+)', r'"total":1\1'), "Visitors have totals"),
            (
                lambda request, text: text.replace("/configure", "/x") if b"offset=2" in request.url.query else text,
                "`limit`",
            ),
        ],
        1,
    ),
)
def test_a_broken_rule_is_found(service: Service, visited: Tenant, answers: Answers, damage: Damage, rule: str) -> None:
    """The check of that rule fails, whatever else does."""
    broken: Any = run_through(service, visited, answers, damage)
    assert [sentence for sentence in broken if sentence.startswith(rule)], broken
    assert len(broken) < 12
