"""Scripts and static files come from another origin than the service, as behind a content delivery network."""

import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import COUNT_VIOLATIONS
from tests.browser.test_widget import Host, make_host
from tests.conftest import Service, Tenant

pytestmark = pytest.mark.browser

__all__ = ["make_host"]  # a fixture


def network_of(service: Service) -> str:
    """The same service at another host name, which is another origin to a browser."""
    return service.url.replace("127.0.0.1", "localhost")


def watch(page: Page) -> dict[str, set[str]]:
    """The paths that are asked for from now on, by origin."""
    asked: dict[str, set[str]] = defaultdict(set)

    def note(url: str) -> None:
        parts = urlsplit(url)
        asked[f"{parts.scheme.replace('ws', 'http')}://{parts.netloc}"].add(parts.path)

    page.on("request", lambda request: note(request.url))
    page.on("websocket", lambda socket: note(socket.url))
    return asked


@pytest.mark.matrix
def test_the_tags_load_all_files_there_and_ask_the_service(
    make_host: Callable[..., Host], service: Service, project: Tenant
) -> None:
    host, network = make_host(tenant=project), network_of(service)
    names = f'data-domain="{project.domain}" data-service="{service.url}"'
    host.tag = (
        f'<script async src="{network}/search.js" {names} data-key="{project.assistant_key}" data-assistant></script>'
        f'<script async src="{network}/views.js" {names}></script>'
    )
    asked = watch(host.page)
    sockets = service.url.replace("http", "ws", 1)
    host.open(csp=f"default-src 'none'; script-src {network}; connect-src {service.url} {sockets}")
    host.page.keyboard.press("Control+k")
    search = host.page.get_by_role("dialog", name="Search")
    search.get_by_role("combobox").fill("install")
    expect(search.get_by_role("option").first).to_be_visible()
    host.page.keyboard.press("Escape")
    host.ask("How do I install acme?")
    expect(host.answers).to_have_attribute("data-phase", "done")
    assert host.page.evaluate("violations.filter((name) => name !== 'img-src')") == []
    assert host.errors == []

    files = {re.sub("[0-9a-f]{12}", "VERSION", path) for path in asked.pop(network)}
    assert {"/search.js", "/views.js", "/widget.js", "/widget/VERSION/panel.js"} <= files
    assert "/widget/VERSION/search-dialog.js" in files
    assert [path for path in files if not path.endswith(".js")] == []
    paths = asked.pop(service.url)
    for name in ("view", "search", "widget"):
        assert f"/discovery/v1/{name}/{project.domain}" in paths
    assert f"/discovery/v1/assistant/{project.domain}/socket" in paths
    assert [path for path in paths if path.endswith(".js")] == []
    assert asked == {}


@pytest.mark.matrix
def test_the_services_own_pages_load_their_files_there(browser: Browser, service: Service, start: Any) -> None:
    own, network = start(CDN_ORIGIN=network_of(service)), network_of(service)
    page = browser.new_page()
    page.add_init_script(COUNT_VIOLATIONS)
    asked = watch(page)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{own.url}/quickstart", wait_until="networkidle")
    assert page.evaluate("violations") == []
    assert page.evaluate("document.styleSheets.length && getComputedStyle(document.body).margin") == "0px"
    assert errors == []
    assert {"/static/site/css/site.css", "/static/site/js/base/dom.js"} <= asked[network], "what modules import, too"
    assert [path for path in asked[own.url] if path.startswith("/static/") and "/img/" not in path] == []
    page.close()


@pytest.mark.matrix
def test_the_tags_work_below_a_path_of_a_host(make_host: Callable[..., Host], start: Any, project: Tenant) -> None:
    """The page is on another host name than the service, which a proxy shows below a path."""
    mounted = start(ALLOWED_HOSTS="127.0.0.1/docs-service,localhost")
    host, base = make_host(tenant=project), f"{mounted.url}/docs-service"
    type(project.project).objects.filter(pk=project.project.pk).update(allowed_origins=[host.url])
    names = f'data-domain="{project.domain}"'
    host.tag = (
        f'<script async src="{base}/search.js" {names} data-key="{project.assistant_key}" data-assistant></script>'
        f'<script async src="{base}/views.js" {names}></script>'
    )
    asked = watch(host.page)
    host.open()
    host.page.keyboard.press("Control+k")
    search = host.page.get_by_role("dialog", name="Search")
    search.get_by_role("combobox").fill("install")
    expect(search.get_by_role("option").first).to_be_visible()
    host.page.evaluate("DocsAssistant.ask('How do I install acme?')")
    expect(host.answers).to_have_attribute("data-phase", "done")
    assert host.errors == []
    paths = asked.pop(mounted.url)
    assert asked.pop(host.url) == {"/host"}, "nothing is asked of the page's own host"
    assert asked == {}
    assert {f"/docs-service{path}" for path in ("/widget.js", f"/discovery/v1/view/{project.domain}")} <= paths
    assert f"/docs-service/discovery/v1/assistant/{project.domain}/socket" in paths
    assert [path for path in paths if not path.startswith("/docs-service/")] == []
