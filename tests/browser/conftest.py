"""One Chromium for all browser tests, and this service's own documentation in it."""

import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import (
    Browser,
    BrowserContext,
    FloatRect,
    Locator,
    Page,
    ViewportSize,
    WebSocketRoute,
    expect,
    sync_playwright,
)

from tests.conftest import ASYNC_UNSAFE, PAGES, PATIENCE, ROOT, Service, Tenant

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# Chromium without a window takes a third less processor time. It has no back/forward cache.
WITHOUT_WINDOW = ("chromium-headless-shell", *PROGRAMS)
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)

# The shadow roots are closed to the page; opened here, selectors reach into them.
OPEN_ROOTS = """
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (init) { return attach.call(this, { ...init, mode: "open" }); };
"""
AXE = (ROOT / "tests" / "contract" / "node_modules" / "axe-core" / "axe.min.js").read_text

RUN_AXE = """(selector) => {
  scrollTo({ top: 0, behavior: "instant" }); // a sticky header would cover targets
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const colours = { runOnly: ["color-contrast", "link-in-text-block"] };
  const all = { rules: { "target-size": { enabled: true } } };
  const options = { resultTypes: ["violations"], ...(isDark ? colours : all) };
  return axe.run(selector, options).then((report) => report.violations);
}"""

# What a tab reports when a content security policy has stopped something.
COUNT_VIOLATIONS = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => violations.push(event.effectiveDirective));
"""
VIEWPORT: ViewportSize = {"width": 1280, "height": 720}

InTwo = Callable[..., tuple[str, threading.Event]]

expect.set_options(timeout=PATIENCE * 1000)


def find_program() -> str:
    """The system's Chromium."""
    return next(filter(None, map(shutil.which, WITHOUT_WINDOW)))


def box_of(element: Locator) -> FloatRect:
    """Where an element is on the screen, in pixels, once it is shown. Playwright itself answers None before."""
    expect(element).to_be_visible()
    box = element.bounding_box()
    assert box
    return box


def follow(link: Locator) -> None:
    """Click what leads to another page, and wait until that is there as a whole."""
    with link.page.expect_navigation():
        link.click()


def log_in(context: BrowserContext, url: str, client: Any) -> None:
    """Give a context the session of a logged-in client of Django, without the time that a password takes."""
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": url}])


def violations(page: Page, selector: str = "html") -> list[str]:
    """What axe finds wrong in a part of the page: rule, and where.

    In the dark it looks at colours only, since the elements are those of the light page, which a test looks at, too.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE())
    nodes = [(rule["id"], node) for rule in page.evaluate(RUN_AXE, selector) for node in rule["nodes"]]
    found = [f"{rule}: {node['target']} {node['failureSummary']}" for rule, node in nodes]
    # A citation in a sentence has a larger area for fingers, which axe does not see: `.cite::before`.
    return [violation for violation in found if not (violation.startswith("target-size") and "sup > a" in violation)]


class SharedTab:
    """One tab that tests use one after the other; a context and a tab for each test cost four times the CPU time.

    `reset` forgets what a test left. Tests that need other context options, an init script, the network
    offline, or a real socket to the service make a context of their own.
    """

    def __init__(self, context: BrowserContext, origin: str) -> None:
        self.context = context
        self.origin = origin
        self.page = context.new_page()
        self._session = context.new_cdp_session(self.page)
        self._listeners: list[tuple[Any, Any]] = []
        self._add_listener = self.page.on
        self.page.on = self._listen

    def _listen(self, event: Any, listener: Any) -> None:
        self._listeners.append((event, listener))
        self._add_listener(event, listener)

    def reset(self) -> Page:
        """Forget routes, listeners, other tabs, emulation, the pointer, and all that is stored for its origin."""
        page = self.page
        for event, listener in self._listeners:
            page.remove_listener(event, listener)
        self._listeners.clear()
        for other in self.context.pages:
            if other is not page:
                other.close()
        page.unroute_all(behavior="ignoreErrors")
        page.emulate_media(media="null", color_scheme="light", reduced_motion="no-preference", forced_colors="none")
        if page.viewport_size != VIEWPORT:
            page.set_viewport_size(VIEWPORT)
        # An empty page of the origin: what the last page stores as it goes is forgotten, too.
        page.route(
            f"{self.origin}/empty", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html")
        )
        page.goto(f"{self.origin}/empty")
        page.unroute_all()
        page.evaluate("localStorage.clear(), sessionStorage.clear()")
        self._session.send("Storage.clearDataForOrigin", {"origin": self.origin, "storageTypes": "all"})
        self.context.clear_cookies()
        page.mouse.move(0, 0)
        return page


class SharedHostTab(SharedTab):
    """A shared tab whose sockets a test answers; routes of sockets cannot be removed from a page."""

    def __init__(self, context: BrowserContext, origin: str) -> None:
        super().__init__(context, origin)
        self.page.route_web_socket(re.compile(""), lambda socket: self._connect(socket))

    def reset(self) -> Page:
        """Sockets are refused until the test answers them."""
        self._connect: Callable[[WebSocketRoute], None] = lambda socket: socket.close(code=1008)
        return super().reset()

    def route_sockets(self, connect: Callable[[WebSocketRoute], None]) -> None:
        """Give each new socket to this function."""
        self._connect = connect


@pytest.fixture(scope="package", autouse=True)
def _orm_beside_playwright() -> Iterator[None]:
    """Let tests use the ORM: Playwright runs an event loop in this thread. Services never get this setting."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ASYNC_UNSAFE, "1")
        yield


@pytest.fixture(scope="package")  # its event loop must end before other tests start theirs
def browser() -> Iterator[Browser]:
    """The system's Chromium, without a window."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_program(), args=list(ARGUMENTS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def shared_host_tab(browser: Browser, service: Service) -> Iterator[SharedHostTab]:
    """The tab of host pages whose sockets are answered by the tests."""
    context = browser.new_context(permissions=["local-network-access"], viewport=VIEWPORT)
    context.add_init_script(OPEN_ROOTS)
    context.add_init_script(COUNT_VIOLATIONS)
    yield SharedHostTab(context, service.url)
    context.close()


@pytest.fixture(scope="session")
def reading_project(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Tenant:
    """A tenant with a few pages about acme, for tests that change nothing of it."""
    from docsite.core.tenants.management.commands.createproject import create_project
    from search.indexing.ingest import ingest
    from search.sources.markdown.folder import read_folder

    domain = f"acme-reading-{os.getpid()}"
    project, key, admin_key = create_project(domain, "Acme", "https://docs.acme.example", [])
    folder = tmp_path_factory.mktemp("docs")
    for name, text in PAGES.items():
        file = folder / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    ingest(project, read_folder(folder))
    return Tenant(project, key, admin_key, domain, project.project_id)


@pytest.fixture(scope="session")
def site(start: Any, django_db_setup: None) -> tuple[Service, Tenant]:
    """The documentation of the service itself, with a key for its dialog."""
    from docsite.core.tenants.management.commands.createproject import create_project
    from search.indexing.ingest import ingest
    from search.sources.markdown.folder import read_folder

    domain = "docs-site"
    project, key, admin_key = create_project(domain, "Docs site", "https://docs.example.com", [])
    ingest(project, read_folder(ROOT / "docsite" / "site" / "content"))
    service = start.lasting(SITE_DOMAIN=domain, SITE_ASSISTANT_KEY=key)
    return service, Tenant(project, key, admin_key, domain, project.project_id)


@pytest.fixture(scope="package")
def shared_site_tab(browser: Browser, site: tuple[Service, Tenant]) -> Iterator[SharedTab]:
    """The tab of the site's pages."""
    context = browser.new_context(base_url=site[0].url, viewport=VIEWPORT)
    context.add_init_script(OPEN_ROOTS)
    yield SharedTab(context, site[0].url)
    context.close()


@pytest.fixture
def tab(browser: Browser, site: tuple[Service, Tenant], shared_site_tab: SharedTab) -> Iterator[Callable[..., Page]]:
    """Open a page of the site, where nothing may end up in the console; with options, in a context of its own."""
    contexts = []
    problems: list[str] = []

    def show(path: str = "/quickstart", *, quiet: bool = False, **options: Any) -> Page:
        if options:
            contexts.append(browser.new_context(base_url=site[0].url, **options))
            contexts[-1].add_init_script(OPEN_ROOTS)
            page = contexts[-1].new_page()
        else:
            page = shared_site_tab.reset()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: message.type == "error" and not quiet and problems.append(message.text))
        page.goto(path)
        return page

    yield show
    assert problems == []
    for context in contexts:
        context.close()


@pytest.fixture
def in_two() -> Iterator[InTwo]:
    """Serve a page of which only the first part comes until the event is set: `in_two(first, *rest)`."""
    servers = []

    def serve(first: str, *rest: str) -> tuple[str, threading.Event]:
        go_on = threading.Event()

        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(first.encode())
                go_on.wait(PATIENCE)
                self.wfile.write("".join(rest).encode())

            def log_message(self, *_: Any) -> None:
                pass

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Page))
        threading.Thread(target=servers[-1].serve_forever, args=[0.02], daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}", go_on

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()
