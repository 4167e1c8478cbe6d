"""Which origins may call: exact origins of the project, and that of the service."""

import asyncio

import httpx
import pytest

from assistant.asking.consumers import AssistantSocket
from docsite.core.access import cors_paths, origins
from tests.analytics.conftest import CHROME
from tests.conftest import assert_error, question


@pytest.fixture
def tenant(make_project):
    return make_project("https://docs.acme.example/v2", origins=["https://app.acme.example:8443"])


def search(http, service, tenant, origin, **headers):
    return http.post(
        f"{service.url}/discovery/v1/search/{tenant.domain}",
        json={"query": "x"},
        headers={**tenant.assistant, "Origin": origin, **headers},
    )


@pytest.mark.parametrize("origin", ["https://docs.acme.example", "https://app.acme.example:8443"])
def test_an_allowed_origin_is_reflected(http, service, tenant, origin):
    response = search(http, service, tenant, origin)
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == origin
    assert "Origin" in response.headers["vary"]
    assert {"X-Thread-Id", "Retry-After", "RateLimit", "RateLimit-Policy"} <= set(
        response.headers["access-control-expose-headers"].split(", ")
    )
    assert "access-control-allow-credentials" not in response.headers


def test_the_services_own_origin_is_allowed(http, service, tenant):
    assert search(http, service, tenant, service.url).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://docs.acme.example",
        "https://docs.acme.example:444",
        "https://docs.acme.example.evil.example",
        "https://app.acme.example",
    ],
)
def test_any_other_origin_is_403_without_cors_headers(http, service, tenant, origin):
    response = search(http, service, tenant, origin)
    assert_error(response, 403)
    assert not [name for name in response.headers if name.startswith("access-control")]


LOOPBACK = (
    *(
        "http://localhost",
        "http://localhost:3000",
        "https://localhost:8443",
        "http://127.0.0.1:4000",
        "http://[::1]:5173",
    ),
)
NOT_LOOPBACK = (
    *(
        "null",
        "http://localhost.evil.example",
        "http://localhost:3000@evil.example",
        "http://localhost:3000.evil.example",
    ),
    *(
        "http://evil.example",
        "http://127.0.0.1.evil.example",
        "http://127.0.0.2:3000",
        "http://0.0.0.0:3000",
        "http://[::2]",
    ),
    *("file://localhost", "ftp://localhost", "http://localhost:", "http://localhost:300000", "http://localhost:3000/"),
    *("http://localhost\n", "http://LOCALHOST:3000", "http://xlocalhost", "http://sub.localhost:3000", "http://127.1"),
)


@pytest.mark.slow
async def test_only_the_demo_allows_pages_of_the_readers_own_machine(make_project, monkeypatch):
    """Its widget, its API with the socket, and its views; on no other project."""
    from docsite.asgi import application

    demo, other = [await asyncio.to_thread(make_project) for _ in range(2)]
    monkeypatch.setattr(origins, "_loopback_domains", set())
    origins.allow_loopback(demo.domain)
    for origin in LOOPBACK + NOT_LOOPBACK:
        assert await origins.allows_origin(demo.domain, origin) is (origin in LOOPBACK), origin
        assert not await origins.allows_origin(other.domain, origin), origin
    transport = httpx.ASGITransport(application)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        for tenant, origin, allowed in (
            *((demo, origin, origin in LOOPBACK) for origin in ("http://[::1]:5173", "http://evil.example", "null")),
            (other, "http://localhost:3000", False),
        ):
            headers = {"Origin": origin}
            path = f"/discovery/v1/{{}}/{tenant.domain}"
            widget = await client.get(path.format("widget"), headers=headers)
            assert widget.json()["enabled"] is allowed
            asked = await client.options(f"{path.format('assistant')}/message", headers=headers)
            assert asked.status_code == (204 if allowed else 403)
            view = {"id": origin, "path": "/"}
            seen = await client.post(path.format("view"), json=view, headers={**headers, "User-Agent": CHROME})
            assert seen.status_code == (204 if allowed else 403)
            socket = AssistantSocket()
            socket.scope = {"headers": [(b"host", b"127.0.0.1"), (b"origin", origin.encode())], "scheme": "ws"}
            socket.domain = tenant.domain
            assert await socket._is_allowed() is allowed


def test_errors_have_cors_headers_too(http, service, tenant):
    response = search(http, service, tenant, "https://docs.acme.example", Authorization="Bearer svc_dsc_wrong")
    assert_error(response, 401)
    assert response.headers["access-control-allow-origin"] == "https://docs.acme.example"


def test_a_preflight_needs_no_key(http, service, tenant):
    response = http.options(
        f"{service.url}/discovery/v1/assistant/{tenant.domain}/message",
        headers={"Origin": "https://docs.acme.example", "Access-Control-Request-Method": "POST"},
    )
    assert response.status_code == 204
    assert response.headers["access-control-allow-methods"] == "GET, POST, OPTIONS"
    assert response.headers["access-control-allow-headers"] == "Authorization, Content-Type, User-Agent, X-Reader-Token"
    assert int(response.headers["access-control-max-age"]) >= 600


def test_a_preflight_of_a_foreign_origin_is_403(http, service, tenant):
    response = http.options(
        f"{service.url}/discovery/v1/assistant/{tenant.domain}/message",
        headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
    )
    assert_error(response, 403)


def test_unknown_and_foreign_domains_look_the_same_to_a_page(http, service, tenant):
    answers = [
        http.post(
            f"{service.url}/discovery/v1/search/{domain}",
            json={"query": "x"},
            headers={"Origin": "https://evil.example"},
        )
        for domain in (tenant.domain, "no-such-domain")
    ]
    assert assert_error(answers[0], 403) == assert_error(answers[1], 403)


def test_analytics_has_no_cors(http, service, tenant):
    response = http.get(
        f"{service.url}/v1/analytics/{tenant.project_id}/visitors",
        headers={**tenant.admin, "Origin": "https://docs.acme.example"},
    )
    assert response.status_code == 200
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize("path", ["/v1/assistant/{}/message", "/discovery/v1/assistant/{}/message"])
def test_clients_may_omit_discovery(http, service, tenant, path):
    response = http.post(
        service.url + path.format(tenant.domain),
        json=question("Hello?"),
        headers={**tenant.assistant, "Origin": "https://docs.acme.example"},
    )
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "https://docs.acme.example"


@pytest.mark.parametrize(
    ("path", "domain"),
    [
        ("/discovery/v1/assistant/acme/message", "acme"),
        ("/discovery/v2/assistant/acme/message", "acme"),
        ("/discovery/v1/search/acme", "acme"),
        ("/discovery/v1/page/acme", "acme"),
        ("/discovery/v1/view/acme", "acme"),
        ("/discovery/v1/feedback/acme", "acme"),
        ("/discovery/v1/search/", None),
        ("/discovery/v1/unknown/acme", None),
        ("/other/v1/search/acme", None),
        ("/discovery/v1/widget/acme", None),
        ("/v1/analytics/prj_x/visitors", None),
        ("/v1/collect/prj_x/views", None),
        ("/health", None),
    ],
)
def test_each_app_registers_what_pages_of_a_project_may_call(path, domain):
    assert cors_paths.domain_of(path) == domain


def test_only_the_widgets_configuration_is_public():
    assert cors_paths.is_public("/discovery/v1/widget/acme")
    for path in ("/discovery/v2/widget/acme", "/discovery/v1/search/acme", "/widget/x", "/discovery/v1/widget"):
        assert not cors_paths.is_public(path)
