"""One Chromium for all browser tests, and this service's own documentation in it."""

import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.conftest import PATIENCE, ROOT, Service, Tenant

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
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

InTwo = Callable[..., tuple[str, threading.Event]]

expect.set_options(timeout=PATIENCE * 1000)


def follow(link: Locator) -> None:
    """Click what leads to another page, and wait until that is there as a whole."""
    with link.page.expect_navigation():
        link.click()


def violations(page: Page, selector: str = "html") -> list[str]:
    """What axe finds wrong in a part of the page: rule, and where."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE())
    found = page.evaluate("(selector) => axe.run(selector).then((report) => report.violations)", selector)
    return [f"{rule['id']}: {node['target']} {node['failureSummary']}" for rule in found for node in rule["nodes"]]


@pytest.fixture(scope="package")  # its event loop must end before other tests start theirs
def browser() -> Iterator[Browser]:
    """The system's Chromium, without a window."""
    with sync_playwright() as playwright:
        program = next(filter(None, map(shutil.which, PROGRAMS)))
        chromium = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def site(start: Any, django_db_setup: None) -> tuple[Service, Tenant]:
    """The documentation of the service itself, with a key for its dialog."""
    from docsite.core.tenants.management.commands.createproject import create_project
    from search.indexing.ingest import ingest
    from search.sources.markdown.folder import read_folder

    domain = "docs-site"
    project, key, admin_key = create_project(domain, "Docs site", "https://docs.example.com", [])
    ingest(project, read_folder(ROOT / "docsite" / "site" / "content"))
    service = start(SITE_DOMAIN=domain, SITE_ASSISTANT_KEY=key)
    return service, Tenant(project, key, admin_key, domain, project.project_id)


@pytest.fixture
def tab(browser: Browser, site: tuple[Service, Tenant]) -> Iterator[Callable[..., Page]]:
    """Open a page of the site in a tab of its own, where nothing may end up in the console."""
    contexts = []
    problems: list[str] = []

    def show(path: str = "/quickstart", *, quiet: bool = False, **options: Any) -> Page:
        contexts.append(browser.new_context(base_url=site[0].url, **options))
        contexts[-1].add_init_script(OPEN_ROOTS)
        page = contexts[-1].new_page()
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
