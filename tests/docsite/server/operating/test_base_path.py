"""The service below a path of a host: `ALLOWED_HOSTS` names it, and log-in, pages, tag, API and sockets work there."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import httpx
import pytest
from django.contrib.auth import get_user_model
from django.urls import clear_script_prefix, set_script_prefix
from pydantic import ValidationError
from websockets.sync.client import connect

from docsite.core.base_path import mount, without_base
from docsite.env import Env
from tests.analytics.conftest import CHROME
from tests.conftest import PATIENCE, Service, Tenant, logged_in
from tests.variants import first_of

pytestmark = pytest.mark.slow

BASE = "/docs-service"


@pytest.fixture(scope="module")
def mounted(start: Any, django_db_setup: None) -> Service:
    """A service that is below a path of one host."""
    return start(ALLOWED_HOSTS=f"127.0.0.1{BASE},localhost")


@pytest.fixture(params=["", BASE], ids=["the proxy removes it", "the proxy leaves it"])
def browse(request: pytest.FixtureRequest, mounted: Service) -> Callable[..., httpx.Response]:
    """Send a request as the proxy does, which removes the path from the address or does not."""
    client = httpx.Client(base_url=mounted.url, timeout=PATIENCE, headers={"User-Agent": CHROME})

    def send(method: str, address: str, **options: Any) -> httpx.Response:
        assert address.startswith(BASE), "a browser would leave the service"
        path = request.param + address.removeprefix(BASE)
        return client.request(method, path or "/", **options)

    return send


def own_addresses(page: str) -> list[str]:
    """The addresses on the host that a page names."""
    return re.findall(r' (?:href|src|action)="(/(?!/)[^"]*)', page)


@pytest.mark.parametrize("path", first_of(["/", "/quickstart", "/ask", "/search?q=log", "/admin/login/"], 2))
def test_every_address_of_a_page_is_below_the_path(browse: Callable[..., httpx.Response], path: str) -> None:
    page = browse("GET", BASE + path)
    assert page.status_code == 200
    addresses = own_addresses(page.text)
    assert len(addresses) > 3
    for address in addresses:
        assert f"{address}/".startswith(f"{BASE}/"), address
        assert not address.startswith(BASE * 2), address
    for address in (one for one in addresses if "/static/" in one or one.endswith(".js")):
        assert browse("GET", address).status_code == 200, address


def test_a_person_logs_in_and_finds_the_tag(browse: Callable[..., httpx.Response], project: Tenant) -> None:
    name = f"mounted-{project.domain}"
    logged_in(name, project.project.organization)
    user = get_user_model().objects.get(username=name)
    user.set_password("a heron eats at dawn")
    user.save()
    sent = browse("GET", f"{BASE}/admin/")
    assert sent.headers["Location"].startswith(f"{BASE}/admin/login/?next={BASE}/admin/")
    form = browse("GET", sent.headers["Location"]).text
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
    values = {**fields, "username": name, "password": "a heron eats at dawn"}
    entered = browse("POST", f"{BASE}/admin/login/", data=values)
    assert (entered.status_code, entered.headers["Location"]) == (302, f"{BASE}/admin/")
    keys = unescape(browse("GET", f"{BASE}/admin/project/{project.domain}/install").text)
    assert f"{BASE}/views.js" in keys, re.findall(r"src=.{0,80}", keys)
    assert re.search(rf'src=(?:"|&quot;)http://127\.0\.0\.1:\d+{BASE}/views\.js', keys)


def test_api_and_socket_work_below_it(browse: Callable[..., httpx.Response], mounted: Service, project: Tenant) -> None:
    question = {"fp": "reader", "messages": [{"role": "user", "content": "How do I install acme?"}]}
    url = f"{BASE}/discovery/v1/assistant/{project.domain}/message"
    answer = browse("POST", url, json=question, headers=project.assistant)
    assert answer.status_code == 200
    assert "pip" in answer.text
    found = browse(
        "POST", f"{BASE}/discovery/v1/search/{project.domain}", json={"query": "pip"}, headers=project.assistant
    )
    assert found.json()[0]["path"] == "/install"
    seen = {"id": f"view-{project.domain}", "path": "/install"}
    origin = {"Origin": "https://docs.acme.example"}
    assert browse("POST", f"{BASE}/discovery/v1/view/{project.domain}", json=seen, headers=origin).status_code == 204
    address = f"{mounted.ws}{BASE}/discovery/v1/assistant/{project.domain}/socket"
    with connect(address, origin="https://docs.acme.example") as socket:
        socket.send('{"type": "stop"}')


@pytest.mark.parametrize(
    ("host", "path", "expected"),
    [
        ("acme.example", "/docs/a", ("/docs", "/a")),
        ("ACME.example:8443", "/a", ("/docs", "/a")),
        ("acme.example", "/docs", ("/docs", "/")),
        ("acme.example", "/docsy", ("/docs", "/docsy")),
        ("acme.example.:80", "/docs/a", ("/docs", "/a")),
        ("[::1]:80", "/v/w/x", ("/v/w", "/x")),
        ("other.example", "/docs/a", ("", "/docs/a")),
        ("", "/docs/a", ("", "/docs/a")),
    ],
)
def test_a_host_has_its_path(settings: Any, host: str, path: str, expected: tuple[str, str]) -> None:
    settings.BASE_PATHS = {"acme.example": "/docs", "[::1]": "/v/w"}
    headers = [(b"x-forwarded-prefix", b"/moved"), (b"host", host.encode())]
    scope = {"path": path, "root_path": "//evil.example", "headers": headers}
    mount(scope)
    assert (scope["root_path"], scope["path"]) == expected


def test_only_the_whole_base_is_cut() -> None:
    try:
        set_script_prefix("/docs/")
        assert [without_base(path) for path in ("/docs", "/docs/a", "/docsy", "/a")] == ["/", "/a", "/docsy", "/a"]
    finally:
        clear_script_prefix()
    assert without_base("/docs/a") == "/docs/a"


@pytest.mark.parametrize(
    "hosts",
    ["*/docs", ".acme.example/docs", "acme.example/a,b.example,Acme.example/b", "a.example/search", "a.example/v1/b"],
)
def test_a_path_that_would_be_mistaken_is_refused_at_the_start(hosts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", hosts)
    with pytest.raises(ValidationError, match="write a path after one whole host name"):
        Env()
    monkeypatch.setenv("ALLOWED_HOSTS", "*,.acme.example,acme.example/searching,a.example/docs/search")
    assert len(Env().allowed_hosts) == 4


def test_a_missing_page_and_the_agent_files_know_the_base(mounted: Service, project: Tenant) -> None:
    plain = {"Accept-Encoding": "identity"}
    page = httpx.get(f"{mounted.url}{BASE}/de/quickstrat", headers=plain)
    assert (page.status_code, int(page.headers["Content-Length"])) == (404, len(page.content))
    assert '<html lang="de"' in page.text
    assert f'href="{BASE}/de/quickstart"' in page.text
    card = httpx.get(f"{mounted.url}{BASE}/mcp/{project.domain}/server-card").text
    assert f"{BASE}/mcp/{project.domain}" in card


@pytest.mark.parametrize(
    "hosts", ["acme.example//e", "acme.example/a/../b", "https://acme.example", "a.example/", 'a/"x']
)
def test_a_path_that_is_none_is_refused_at_the_start(hosts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", hosts)
    with pytest.raises(ValidationError, match="write host names"):
        Env()


def test_a_reader_cannot_move_the_links_of_others(service: Service) -> None:
    for name in ("Daphne-Root-Path", "X-Forwarded-Prefix", "X-Script-Name"):
        for headers in ({name: "/moved"}, {}):
            assert "/moved" not in httpx.get(f"{service.url}/quickstart", headers=headers).text
