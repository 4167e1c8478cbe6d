"""The MCP server as HTTP: messages, versions, headers, access and limits."""

import base64
import json
from typing import Any

import pytest

from docsite.extras.mcp.models import McpSettings
from tests.conftest import Tenant, assert_error

STATELESS = "2026-07-28"


@pytest.fixture
def post(http: Any, service: Any, project: Tenant) -> Any:
    """Send a message to the server of the project."""

    def send(message: Any, headers: dict[str, str] | None = None, domain: str = "") -> Any:
        return http.post(f"{service.url}/mcp/{domain or project.domain}", json=message, headers=headers or {})

    return send


def request(method: str, call_id: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}


def stateless(method: str, **params: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """A request of the version without a handshake, with its headers."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "Test Agent", "version": "1"},
    }
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": method}
    if name := params.get("name") or params.get("uri"):
        headers["Mcp-Name"] = name
    return request(method, **params, _meta=meta), headers


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", name=name, arguments=arguments)


def set_access(project: Tenant, access: str) -> None:
    from docsite.core.access.authentication import ttl_cache

    McpSettings.objects.update_or_create(project=project.project, defaults={"mcp_access": access})
    ttl_cache.clear()


def rpc_error(response: Any, code: int, status: int = 200) -> dict[str, Any]:
    assert (response.status_code, response.json()["error"]["code"]) == (status, code), response.text
    assert response.json()["jsonrpc"] == "2.0"
    return response.json()["error"]


@pytest.mark.parametrize(
    ("wanted", "agreed"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2030-01-01", "2025-11-25"),
        (None, "2025-11-25"),
    ],
)
def test_initialize_agrees_on_a_version_and_says_which_site_it_is(post, project, wanted, agreed):
    response = post(request("initialize", protocolVersion=wanted, capabilities={}, clientInfo={"name": "x"}))
    result = response.json()["result"]
    assert response.status_code == 200
    assert result["protocolVersion"] == agreed
    assert result["serverInfo"]["name"] == f"{project.domain}-docs"
    assert project.project.docs_url in result["instructions"]
    assert set(result["capabilities"]) == {"tools", "resources"}


def test_a_notification_and_a_response_of_the_client_get_202_without_a_body(post):
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 7, "result": {}},
    ):
        response = post(message)
        assert (response.status_code, response.content) == (202, b"")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"{", -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": NaN}}', -32700),
        (b"[" * 100 + b"]" * 100, -32700),
        (b'"ping"', -32600),
        (b"[]", -32600),
        (b'{"id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32602),
    ],
)
def test_a_message_that_is_none_gets_400(http, service, project, content, code):
    url, headers = f"{service.url}/mcp/{project.domain}", {"Content-Type": "application/json"}
    error = rpc_error(http.post(url, content=content, headers=headers), code, 400)
    assert error["message"].endswith(".")


def test_an_unknown_method_is_an_error_with_the_id_of_the_request(post):
    response = post(request("prompts/list", "seven"))
    rpc_error(response, -32601)
    assert response.json()["id"] == "seven"


def test_get_and_delete_are_not_allowed(http, service, project):
    for method in ("GET", "DELETE"):
        response = http.request(method, f"{service.url}/mcp/{project.domain}")
        assert_error(response, 405)
        assert response.headers["allow"] == "POST"


def test_another_content_type_and_a_large_body_are_refused(http, service, project):
    url = f"{service.url}/mcp/{project.domain}"
    assert_error(http.post(url, content=b"{}", headers={"Content-Type": "text/plain"}), 415)
    assert_error(http.post(url, json=call("ask_docs", question="x" * 140_000)), 413)


def test_only_one_version_takes_a_batch(post):
    batch = [request("ping", 1), {"jsonrpc": "2.0", "method": "notifications/x"}, request("nothing", 2)]
    first, second = post(batch, {"MCP-Protocol-Version": "2025-03-26"}).json()
    assert first == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert (second["id"], second["error"]["code"]) == (2, -32601)
    assert post(batch).status_code == 200  # a request without the header is of that version
    assert post([batch[1]]).status_code == 202
    for version in ("2025-06-18", STATELESS):
        rpc_error(post(batch, {"MCP-Protocol-Version": version}), -32600, 400)
    rpc_error(post([request("ping")] * 21), -32600, 400)


def test_a_version_that_is_not_spoken_is_refused_with_those_that_are(post):
    error = rpc_error(post(request("tools/list"), {"MCP-Protocol-Version": "2031-01-01"}), -32022, 400)
    assert error["data"]["requested"] == "2031-01-01"
    assert {"2025-11-25", STATELESS} <= set(error["data"]["supported"])


def test_without_a_handshake_results_name_the_server_and_how_long_they_stay_valid(post, project):
    result = post(*stateless("server/discover")).json()["result"]
    assert (result["resultType"], result["cacheScope"]) == ("complete", "public")
    assert result["ttlMs"] > 0
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == f"{project.domain}-docs"
    assert STATELESS in result["supportedVersions"]
    called = post(*stateless("tools/call", name="search_docs", arguments={"query": "install"})).json()["result"]
    assert called["resultType"] == "complete"
    assert "ttlMs" not in called


def test_without_a_handshake_headers_and_envelope_must_agree(post):
    message, headers = stateless("tools/call", name="search_docs", arguments={"query": "install"})
    for wrong in ({"Mcp-Method": "tools/list"}, {"Mcp-Name": "ask_docs"}, {"Mcp-Name": "=?base64?!?="}):
        rpc_error(post(message, {**headers, **wrong}), -32020, 400)
    encoded = base64.b64encode(b"search_docs").decode()
    assert post(message, {**headers, "Mcp-Name": f"=?base64?{encoded}?="}).status_code == 200
    rpc_error(post(request("tools/list"), {**headers, "Mcp-Method": "tools/list"}), -32602, 400)
    rpc_error(post(*stateless("nothing")), -32601, 404)


def test_a_page_of_another_origin_is_refused(http, service, project):
    url, message = f"{service.url}/mcp/{project.domain}", request("ping")
    assert_error(http.post(url, json=message, headers={"Origin": "https://evil.example"}), 403)
    assert_error(http.post(url, json=message, headers={"Origin": "null"}), 403)
    own = http.post(url, json=message, headers={"Origin": "https://docs.acme.example"})
    assert own.headers["access-control-allow-origin"] == "https://docs.acme.example"
    preflight = http.options(url, headers={"Origin": "https://docs.acme.example"})
    assert "MCP-Protocol-Version" in preflight.headers["access-control-allow-headers"]


def test_a_domain_that_does_not_exist_looks_like_one_whose_server_is_off(post, project, make_project):
    other = make_project()
    set_access(other, "off")
    off, none = post(request("ping"), domain=other.domain), post(request("ping"), domain="no-such-domain")
    assert assert_error(off, 404) == assert_error(none, 404)


def test_a_key_is_demanded_where_the_owner_says_so(post, project, make_project):
    other = make_project()
    set_access(project, "key")
    missing = post(request("ping"))
    assert_error(missing, 401)
    assert missing.headers["www-authenticate"] == "Bearer"
    assert_error(post(request("ping"), {"Authorization": "Bearer svc_dsc_wrong"}), 401)
    for headers in (project.assistant, project.admin):
        assert post(request("ping"), headers).status_code == 200
    for headers in (other.assistant, other.admin):
        assert_error(post(request("ping"), headers), 404)


def test_after_a_401_agents_learn_in_json_that_there_is_no_oauth(http, service, post, project):
    set_access(project, "key")
    assert_error(post(request("ping")), 401)
    for path in ("oauth-protected-resource", "oauth-authorization-server", "openid-configuration"):
        for end in ("", f"/mcp/{project.domain}"):
            assert_error(http.get(f"{service.url}/.well-known/{path}{end}"), 404)
    for path in ("register", "token", "authorize"):
        assert_error(http.post(f"{service.url}/{path}", json={}), 404)


def test_an_address_with_a_slash_at_its_end_works(post, project):
    assert post(request("ping"), domain=f"{project.domain}/").json()["result"] == {}


def test_an_admin_key_that_may_not_read_is_refused(post, project):
    from docsite.core.tenants.models import ApiKey

    set_access(project, "key")
    _, token = ApiKey.issue(ApiKey.Kind.ADMIN, project.project.organization, scopes=["write"])
    assert post(request("ping"), {"Authorization": f"Bearer {token}"}).status_code == 200  # write implies read
    _, token = ApiKey.issue(ApiKey.Kind.ADMIN, project.project.organization, networks=["203.0.113.0/24"])
    assert_error(post(request("ping"), {"Authorization": f"Bearer {token}"}), 403)


@pytest.mark.matrix
def test_the_tools_have_the_limits_of_the_http_api(http, start, project):
    service = start(LIMIT_SEARCH_ORG="2/h", LIMIT_ASSISTANT_ORG="1/h")
    url = f"{service.url}/mcp/{project.domain}"

    def text(message: dict[str, Any]) -> tuple[bool, str]:
        result = http.post(url, json=message).json()["result"]
        return result["isError"], result["content"][0]["text"]

    assert not text(call("search_docs", query="install"))[0]
    page = http.post(f"{service.url}/discovery/v1/page/{project.domain}", json={"path": "/"}, headers=project.assistant)
    assert page.status_code == 200  # the same budget
    assert text(call("read_page", path="/install"))[1].startswith("Too many requests. Try again in ")
    assert not text(call("ask_docs", question="How do I install acme?"))[0]
    assert text(call("ask_docs", question="How do I install acme?"))[0]
    assert_error(http.post(url, json=request("resources/list")), 429)
    assert http.post(url, json=request("tools/list")).status_code == 200


def test_the_headers_show_each_limit_once(post):
    batch = [{**call("search_docs", query="install"), "id": number} for number in (1, 2)]
    policies = post(batch).headers["ratelimit-policy"]
    names = [policy.split(";")[0] for policy in policies.split(", ")]
    assert names == ['"collect-ip"', '"search-ip"', '"search-org"']


@pytest.mark.matrix
def test_every_request_counts_against_the_limit_of_its_address(http, start, project):
    service = start(LIMIT_COLLECT_IP="2/h")
    url = f"{service.url}/mcp/{project.domain}"
    statuses = [http.post(url, json=request("ping")).status_code for _ in range(3)]
    assert statuses[-1] == 429
    assert '"collect-ip"' in http.post(url, json=request("ping")).headers["ratelimit-policy"]


def test_answers_hold_no_state_in_the_service(post):
    """A session id is only a signed name: a forged one is not read, and the answer is the same."""
    begun = post(request("initialize", protocolVersion="2025-11-25", clientInfo={"name": "Agent", "version": "1"}))
    session = begun.headers["mcp-session-id"]
    for value in (session, "x" * 5000, json.dumps({"client": "Forged"})):
        assert post(request("ping"), {"Mcp-Session-Id": value}).json()["result"] == {}
