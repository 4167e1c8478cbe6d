"""The view script: pages of another origin, in a browser, report to the running service, whose export counts them."""

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, Route

from tests.analytics.conftest import CHROME
from tests.browser.conftest import ARGUMENTS, PROGRAMS, find_program
from tests.browser.test_widget import COUNT_VIOLATIONS
from tests.conftest import PATIENCE, Service, Tenant, set_analytics, wait_for
from tests.variants import first_of

pytestmark = pytest.mark.browser

PROGRAM = next(filter(None, map(shutil.which, PROGRAMS)), "")
AS_A_READER = (*ARGUMENTS, f"--user-agent={CHROME}")  # Playwright's own setting misses requests of pages that go

# No Navigation API, though an element has taken its name, and no `randomUUID` (as on http origins).
OLD_BROWSER = """
Object.defineProperty(window, "navigation", { get: () => document.getElementById("navigation") });
delete Crypto.prototype.randomUUID;
"""
# Headless tabs are all visible, so one in the background is made up.
BACKGROUND = """
let state = "hidden";
Object.defineProperty(document, "visibilityState", { get: () => state });
Object.defineProperty(document, "hidden", { get: () => state === "hidden" });
window.show = (value) => {
  state = value;
  document.dispatchEvent(new Event("visibilitychange"));
};
"""
# Timers run at once, or never, and tell for how long they were set. Those of many days never do.
AT_ONCE = """
window.delays = [];
const run = setTimeout;
window.setTimeout = (f, ms) => { delays.push(ms); return ms < 1e9 ? run(f) : 0; };
"""
NEVER = "window.delays = []; window.setTimeout = (f, ms) => void delays.push(ms);"


class Site:
    """A documentation site on an origin of its own, whose every path is a page that carries the tag."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.headers: dict[str, str] = {}
        self.attributes = ""
        self.head = ""
        self.bodies: dict[str, str] = {}  # of pages, by path
        self.texts: dict[str, Callable[[], str]] = {}  # what pages ask for
        self.got: list[tuple[str, str]] = []  # path and Sec-Purpose of each request
        self.tenant: Tenant
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                site.got.append((path, self.headers.get("Sec-Purpose", "")))
                text = site.texts[path]() if path in site.texts else site.html(path)
                self.send_response(200)
                headers = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(text.encode()))}
                for name, value in {**headers, **site.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()

    @property
    def tag(self) -> str:
        source = f'src="{self.service.url}/views.js" data-domain="{self.tenant.domain}"'
        return f"<script async {source} {self.attributes}></script>"

    def html(self, path: str) -> str:
        return (
            f"<!doctype html><html lang=en><head><meta charset=utf-8><title>Host</title>{self.head}{self.tag}</head>"
            f"<body><nav id=navigation>{self.bodies.get(path, '')}</nav></body></html>"
        )

    def counted(self, http: httpx.Client, report: str = "views") -> dict[str, int]:
        """People of a report for each page, and of the whole site under "total"."""
        url = f"{self.service.url}/v1/analytics/{self.tenant.project_id}/{report}"
        answer = http.get(url, headers=self.tenant.admin).json()
        return {"total": answer["totals"]["human"], **{row["path"]: row["human"] for row in answer[report]}}

    def stored(self) -> int:
        """How many views the database holds."""
        from analytics.models import PageView

        return PageView.objects.filter(project=self.tenant.project).count()


class Tab:
    """A page of the site in a browser, and what it reported."""

    def __init__(self, site: Site, context: BrowserContext) -> None:
        self.site = site
        self.context = context
        self.reports: list[dict[str, Any]] = []
        self.answers: list[int] = []
        self.ended = 0  # reports that were answered or failed
        self.errors: list[str] = []
        self.warnings: list[str] = []  # of the script
        context.on("request", lambda request: _is_report(request.url) and self.reports.append(request.post_data_json))
        context.on("response", lambda answer: _is_report(answer.url) and self.answers.append(answer.status))
        context.on("requestfinished", self._end)
        context.on("requestfailed", self._end)
        self.page: Page = context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: message.type == "warning" and self._warned(message.text))

    def _end(self, request: Request) -> None:
        self.ended += _is_report(request.url)

    def _warned(self, text: str) -> None:
        if text.startswith("Docs views"):
            self.warnings.append(text)

    def open(self, path: str, **options: Any) -> "Tab":
        self.page.goto(self.site.url + path, **options)
        return self

    def run(self, script: str) -> Any:
        return self.page.evaluate(script)

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Poll as `wait_for` does, while the browser's events come in."""
        for _ in range(PATIENCE * 50):
            if condition():
                return
            self.page.wait_for_timeout(20)
        pytest.fail(f"waited {PATIENCE} s for {what}; reported: {self.reports}, answered: {self.answers}")

    def seen(self, *paths: str) -> list[dict[str, Any]]:
        """Wait until as many reports are answered; they must be of these paths, and are returned."""
        self.until(lambda: len(self.answers) >= len(paths), f"views of {paths}")
        assert [report["path"] for report in self.reports] == list(paths)
        assert set(self.answers) == {204}
        return self.reports


def _is_report(url: str) -> bool:
    return "/discovery/v1/view/" in url


@pytest.fixture
def site(service: Service, make_project: Any) -> Iterator[Site]:
    site = Site(service)
    site.tenant = make_project(docs_url=site.url)
    yield site
    site.server.shutdown()
    site.server.server_close()


@pytest.fixture(scope="module")
def browser(browser: Browser) -> Iterator[Browser]:
    """A browser that says in every request that a reader uses it."""
    own = browser.browser_type.launch(executable_path=find_program(), args=list(AS_A_READER))
    yield own
    own.close()


@pytest.fixture
def make_tab(browser: Browser, site: Site) -> Iterator[Callable[..., Tab]]:
    tabs: list[Tab] = []

    def make(*scripts: str, **options: Any) -> Tab:
        context = browser.new_context(**options)
        for script in scripts:
            context.add_init_script(f"{{{script}}}")
        tabs.append(Tab(site, context))
        return tabs[-1]

    yield make
    for tab in tabs:
        tab.context.close()
    assert [error for tab in tabs for error in tab.errors] == []


@pytest.fixture
def tab(make_tab: Callable[..., Tab]) -> Tab:
    return make_tab()


@pytest.fixture
def caching_tab(browser: Browser, site: Site) -> Iterator[Tab]:
    """A tab of a browser with a back/forward cache, which Playwright switches off."""
    without = ["--disable-back-forward-cache"]
    own = browser.browser_type.launch(executable_path=PROGRAM, args=list(AS_A_READER), ignore_default_args=without)
    tab = Tab(site, own.new_context())
    yield tab
    own.close()
    assert tab.errors == []


def test_it_is_served_like_the_widget(http: httpx.Client, service: Service) -> None:
    url = f"{service.url}/views.js"
    answer = http.get(url)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "public, max-age=300"
    etag = answer.headers["etag"]
    for known in (etag, f"W/{etag}"):
        assert http.get(url, headers={"If-None-Match": known}).status_code == 304
    assert http.get(url, headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_load_is_one_view_and_leaves_nothing_behind(tab: Tab, site: Site, http: httpx.Client) -> None:
    headers = []
    tab.page.on("request", lambda request: _is_report(request.url) and headers.append(request.headers))
    (view,) = tab.open("/guides/install?key=secret#top", referer="https://search.example/find?q=me").seen(
        "/guides/install"
    )
    assert set(view) == {"id", "path", "referrer"}
    assert 16 <= len(view["id"]) <= 64
    assert view["referrer"] == "https://search.example"
    assert headers[0]["content-type"].startswith("text/plain")
    assert site.counted(http) == {"total": 1, "/guides/install": 1}
    assert tab.context.cookies() == []
    assert tab.run("localStorage.length + sessionStorage.length") == 0
    left = """() => {
        const fresh = document.body.appendChild(document.createElement("iframe")).contentWindow;
        return Object.keys(window).filter((name) => !(name in fresh) && !/^(\\d+|navigation)$/.test(name));
    }"""
    assert tab.run(left) == []


# Pages that change their own address


@pytest.mark.parametrize(
    ("attributes", "paths"),
    first_of(
        [
            ("data-hash", {"/docs/", "/docs/guide", "/docs/guide/install"}),
            ("", {"/docs/"}),
            ('data-hash="false"', {"/docs/"}),  # as React writes it
        ],
        1,
    ),
)
def test_a_router_in_the_fragment_has_pages_if_the_tag_says_so(
    tab: Tab, site: Site, attributes: str, paths: set[str]
) -> None:
    site.attributes = attributes
    tab.open("/docs/")
    tab.seen("/docs/")
    for fragment in ("/guide", "/guide?id=part", "!/guide/", "/guide/install", "only-a-part"):
        tab.run(f"location.hash = '{fragment}'")
        tab.page.wait_for_timeout(150)  # a path counts that stays for a tenth of a second
    wait_for(lambda: {report["path"].rstrip("/") for report in tab.reports} >= {path.rstrip("/") for path in paths}, "")
    assert {report["path"].rstrip("/") for report in tab.reports} == {path.rstrip("/") for path in paths}


@pytest.mark.parametrize("script", first_of(["", OLD_BROWSER], 1, ids=["navigation-api", "old-browser"]))
def test_each_page_of_a_single_page_site_is_a_view(
    make_tab: Callable[..., Tab], site: Site, http: httpx.Client, script: str
) -> None:
    tab = make_tab(script).open("/a/")
    tab.seen("/a/")
    tab.run("history.replaceState(null, '', '/a/index.html')")  # another spelling of the same page
    tab.run("history.pushState(null, '', '/b')")
    tab.run("history.replaceState(null, '', '/b?x=1')")
    tab.run("history.pushState(null, '', '/b?x=2#part')")
    tab.run("location.hash = 'other'")
    tab.seen("/a/", "/b")
    tab.run("history.pushState(null, '', '/c')")
    tab.seen("/a/", "/b", "/c")
    tab.run("history.replaceState(null, '', '/d')")
    tab.seen("/a/", "/b", "/c", "/d")
    tab.run("history.back()")
    tab.page.wait_for_url("**/b?x=2#other")
    tab.run("history.back()")
    tab.page.wait_for_url("**/b?x=2#part")
    tab.seen("/a/", "/b", "/c", "/d", "/b")
    tab.run("history.go(-2)")
    views = tab.seen("/a/", "/b", "/c", "/d", "/b", "/a/index.html")
    assert [view["referrer"] for view in views] == ["", *[site.url] * 5]
    assert len({view["id"] for view in views}) == 6
    assert site.counted(http) == {"total": 6, "/a": 2, "/b": 2, "/c": 1, "/d": 1}
    assert site.counted(http, "visitors") == {"total": 1, "/a": 1, "/b": 1, "/c": 1, "/d": 1}


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("script", "later"),
    [("", "now()"), (OLD_BROWSER, "setTimeout(now, 20)")],
    ids=["navigation-api-same-task", "old-browser-later-task"],
)
def test_a_path_that_is_replaced_at_once_is_no_view(
    make_tab: Callable[..., Tab], site: Site, http: httpx.Client, script: str, later: str
) -> None:
    tab = make_tab(script).open("/a")
    tab.seen("/a")
    tab.run(f"""() => {{
        const now = () => history.replaceState(null, '', '/docs/intro');
        history.pushState(null, '', '/docs');
        {later};
    }}""")
    tab.seen("/a", "/docs/intro")
    tab.page.wait_for_timeout(300)
    tab.seen("/a", "/docs/intro")
    assert site.counted(http) == {"total": 2, "/a": 1, "/docs/intro": 1}


@pytest.mark.matrix
@pytest.mark.parametrize("script", ["", OLD_BROWSER], ids=["navigation-api", "old-browser"])
def test_a_path_counts_when_the_page_is_left_right_then(
    make_tab: Callable[..., Tab], site: Site, http: httpx.Client, script: str
) -> None:
    tab = make_tab(script, NEVER).open("/a")
    tab.seen("/a")
    site.bodies["/c"] = "<p>The next page</p>"
    tab.run("history.pushState(null, '', '/b'), void (location.href = '/c')")
    wait_for(lambda: site.stored() == 3, "the views")
    assert site.counted(http) == {"total": 3, "/a": 1, "/b": 1, "/c": 1}


@pytest.mark.matrix
def test_a_path_counts_when_the_tab_is_hidden_right_then(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(BACKGROUND, NEVER).open("/a")
    tab.run("show('visible')")
    tab.run("history.pushState(null, '', '/b'); show('hidden')")
    tab.run("history.pushState(null, '', '/unseen')")
    tab.page.wait_for_timeout(200)
    tab.seen("/a", "/b")


@pytest.mark.matrix
def test_a_wrapped_history_behaves_as_before(make_tab: Callable[..., Tab], site: Site) -> None:
    site.head = """<script>
        const own = history.pushState;
        history.pushState = function pushState(state, title, url) { own.call(this, state, title, url); return 7; };
    </script>"""
    tab = make_tab(OLD_BROWSER).open("/a")
    tab.seen("/a")
    failure = "(use) => { try { use(); } catch (error) { return error.name; } }"
    assert tab.run(f"({failure})(() => history.pushState(null, '', 'https://elsewhere.example/'))") == "SecurityError"
    assert tab.run(f"({failure})(() => history.replaceState.call({{}}, null, '', '/x'))") == "TypeError"
    assert tab.run("[history.replaceState.name, history.replaceState.length]") == ["replaceState", 2]
    assert tab.run("history.pushState({ kept: 1 }, '', '/b')") == 7
    assert tab.run("history.state") == {"kept": 1}
    tab.seen("/a", "/b")


# When a page is seen


@pytest.mark.matrix
def test_a_page_from_the_back_forward_cache_is_a_new_view(caching_tab: Tab, site: Site, http: httpx.Client) -> None:
    tab = caching_tab
    tab.open("/a")
    tab.seen("/a")
    tab.run("window.kept = true")
    tab.open("/b").seen("/a", "/b")
    tab.run("setTimeout(() => history.back())")  # whose end Playwright does not see
    first, _, again = tab.seen("/a", "/b", "/a")
    assert tab.run("window.kept") is True
    assert first["id"] != again["id"]
    assert site.counted(http) == {"total": 3, "/a": 2, "/b": 1}


@pytest.mark.matrix
def test_a_prerendered_page_is_a_view_when_it_is_shown(site: Site, http: httpx.Client, tmp_path: Path) -> None:
    """In a browser that nothing drives: DevTools, and so Playwright, switch prerendering off."""
    ready: set[str] = set()
    for path in ("/shown", "/unseen"):
        site.bodies[path] = f"<script>addEventListener('load', () => fetch('/ready{path}'))</script>"
        site.texts[f"/ready{path}"] = lambda path=path: ready.add(path) or "ok"  # type: ignore[misc]
    site.texts["/go"] = lambda: "yes" if len(ready) == 2 else "no"
    site.bodies["/start"] = """
        <script type=speculationrules>
          {"prerender": [{"urls": ["/shown", "/unseen"], "eagerness": "immediate"}]}
        </script>
        <script>
          const ask = async () => {
            if ((await (await fetch("/go")).text()) === "yes") location.href = "/shown";
            else setTimeout(ask, 50);
          };
          ask();
        </script>"""
    command = [PROGRAM, *AS_A_READER, "--headless", f"--user-data-dir={tmp_path}", f"{site.url}/start"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 10
        while len(ready) < 2:
            if time.monotonic() > until:
                pytest.skip("this browser does not prerender, as on machines with little memory")
            time.sleep(0.02)
        wait_for(lambda: site.stored() >= 2, "two views")
    finally:
        process.terminate()
        process.wait(PATIENCE)
    asked = {path: purpose for path, purpose in site.got if path in ("/shown", "/unseen")}
    assert asked == {"/shown": "prefetch;prerender", "/unseen": "prefetch;prerender"}
    assert site.counted(http) == {"total": 2, "/start": 1, "/shown": 1}


@pytest.mark.matrix
def test_a_tab_in_the_background_is_a_view_when_it_is_first_shown(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(BACKGROUND).open("/a")
    tab.page.wait_for_load_state("networkidle")
    tab.run("history.pushState(null, '', '/b')")
    assert tab.reports == []
    tab.run("show('visible')")
    tab.run("show('hidden')")
    tab.run("history.pushState(null, '', '/unseen')")
    tab.page.wait_for_timeout(200)
    tab.run("history.replaceState(null, '', '/b')")
    tab.run("show('visible')")
    tab.run("history.pushState(null, '', '/c')")
    tab.seen("/b", "/c")


# Sending


def test_a_report_outlives_its_page_and_carries_no_credentials(make_tab: Callable[..., Tab]) -> None:
    watch = "const ask = fetch; window.fetch = (url, options) => ask(url, (window.asked = options));"
    tab = make_tab(watch).open("/a")
    tab.seen("/a")
    asked = tab.run("asked")
    assert (asked["keepalive"], asked["credentials"]) == (True, "omit")


def test_a_view_waits_for_the_network_and_counts_once(
    make_tab: Callable[..., Tab], site: Site, http: httpx.Client
) -> None:
    tab = make_tab(AT_ONCE).open("/a")
    tab.seen("/a")
    tab.context.set_offline(True)
    with tab.page.expect_event("requestfailed"):
        tab.run("history.pushState(null, '', '/b')")
    tab.page.wait_for_timeout(200)
    assert len(tab.reports) == 2  # no attempt is wasted meanwhile
    tab.context.set_offline(False)
    tab.until(lambda: len(tab.answers) == 2, "the second view")
    _, lost, sent = tab.reports
    assert lost == sent
    assert tab.warnings == []
    assert site.counted(http) == {"total": 2, "/a": 1, "/b": 1}


@pytest.mark.matrix
def test_a_view_whose_answer_was_lost_counts_once(make_tab: Callable[..., Tab], site: Site, http: httpx.Client) -> None:
    tab = make_tab(AT_ONCE)
    heard: list[int] = []

    def lose(route: Route) -> None:
        heard.append(route.fetch().status)
        if len(heard) == 1:
            route.abort()
        else:
            route.fulfill(status=heard[-1], headers={"Access-Control-Allow-Origin": site.url})

    tab.context.route("**/discovery/v1/view/*", lose)
    tab.open("/a")
    tab.until(lambda: len(heard) == 2, "the second attempt")
    assert heard == [204, 204]
    assert tab.reports[0] == tab.reports[1]
    assert site.counted(http) == {"total": 1, "/a": 1}


@pytest.mark.matrix
def test_it_tries_three_times_and_heeds_retry_after(make_tab: Callable[..., Tab], site: Site) -> None:
    tab = make_tab(AT_ONCE)
    cors = {"Access-Control-Allow-Origin": site.url, "Access-Control-Expose-Headers": "Retry-After"}
    script = iter(
        [
            lambda route: route.fulfill(status=503, headers={**cors, "Retry-After": "7"}),
            lambda route: route.fulfill(status=429, headers=cors),
            lambda route: route.fulfill(status=500, headers=cors),  # given up
            lambda route: route.abort(),  # as is the second view, at once
            lambda route: route.fulfill(status=400, headers=cors),  # an answer, and final
            lambda route: route.fulfill(status=500, headers=cors),
            lambda route: route.fulfill(status=204, headers=cors),
        ]
    )
    tab.context.route("**/discovery/v1/view/*", lambda route: next(script)(route))
    tab.open("/a")
    tab.until(lambda: tab.ended == 3, "three attempts")
    for path, ended in (("/b", 4), ("/c", 5), ("/d", 7)):
        tab.run(f"history.pushState(null, '', '{path}')")
        tab.until(lambda ended=ended: tab.ended == ended, path)  # type: ignore[misc]
    tab.page.wait_for_timeout(100)
    assert [report["path"] for report in tab.reports] == ["/a"] * 3 + ["/b", "/c", "/d", "/d"]
    assert len({report["id"] for report in tab.reports}) == 4
    assert [delay for delay in tab.run("delays") if delay > 100] == [7_000, 30_000, 4_000]


@pytest.mark.matrix
def test_a_page_that_goes_tries_once_more(make_tab: Callable[..., Tab], site: Site, http: httpx.Client) -> None:
    tab = make_tab(NEVER)
    tab.context.route("**/discovery/v1/view/*", lambda route: route.abort())
    tab.open("/a")
    tab.page.wait_for_function("delays.length")
    tab.context.unroute_all()
    tab.page.goto("about:blank")
    wait_for(site.stored, "the view")
    assert site.counted(http) == {"total": 1, "/a": 1}


@pytest.mark.matrix
def test_an_origin_that_is_not_listed_is_named_once(
    make_tab: Callable[..., Tab], site: Site, make_project: Any, http: httpx.Client
) -> None:
    site.tenant = make_project(docs_url="https://docs.other.example")
    warning = f'Docs views: not counted. Is {site.url} an allowed origin of "{site.tenant.domain}"?'
    tab = make_tab(NEVER).open("/a")
    tab.until(lambda: bool(tab.warnings), "a warning")
    assert len(tab.reports) == 1  # it comes with the first refusal

    tab = make_tab(AT_ONCE).open("/a")
    tab.until(lambda: tab.ended == 3, "three attempts")
    for ended, path in enumerate(("/b", "/c"), start=4):
        tab.run(f"history.pushState(null, '', '{path}')")
        tab.until(lambda ended=ended: tab.ended == ended, path)  # type: ignore[misc]
    tab.page.wait_for_timeout(100)
    assert [report["path"] for report in tab.reports] == ["/a", "/a", "/a", "/b", "/c"]
    assert tab.warnings == [warning]
    assert site.stored() == 0


@pytest.mark.matrix
def test_a_policy_without_the_service_warns_once(make_tab: Callable[..., Tab], site: Site) -> None:
    site.headers["Content-Security-Policy"] = f"script-src {site.service.url}; connect-src 'self'"
    tab = make_tab(AT_ONCE).open("/a")
    tab.until(lambda: bool(tab.warnings), "a warning")
    tab.page.wait_for_timeout(200)
    assert len(tab.warnings) == 1
    assert f"Is {site.url} an allowed origin" in tab.warnings[0]


# Hosts of all kinds


@pytest.mark.matrix
def test_two_tags_count_once(tab: Tab, site: Site, http: httpx.Client) -> None:
    site.head = site.tag
    tab.open("/a").seen("/a")
    tab.run("""new Promise((resolve) => {
        const { src, dataset } = document.querySelector("script");
        const script = Object.assign(document.createElement("script"), { src, onload: resolve });
        script.dataset.domain = dataset.domain;
        document.body.append(script);
    })""")
    tab.run("history.pushState(null, '', '/b')")
    tab.seen("/a", "/b")
    assert site.counted(http) == {"total": 2, "/a": 1, "/b": 1}


def test_a_strict_policy_with_trusted_types_is_kept(make_tab: Callable[..., Tab], site: Site) -> None:
    site.headers["Content-Security-Policy"] = (
        f"default-src 'none'; script-src {site.service.url}; connect-src {site.service.url}; base-uri 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    site.headers["Referrer-Policy"] = "no-referrer"
    site.attributes = "data-remember-visitors"
    tab = make_tab(COUNT_VIOLATIONS).open("/a")
    tab.seen("/a")
    assert tab.run("violations.filter((name) => name !== 'img-src')") == []  # the browser's own wish for an icon


@pytest.mark.matrix
def test_a_frame_without_an_origin_is_left_alone(tab: Tab, site: Site) -> None:
    site.attributes = "data-remember-visitors"
    site.bodies["/a"] = "<iframe sandbox=allow-scripts src=/framed></iframe>"
    tab.open("/a").page.wait_for_load_state("networkidle")
    tab.seen("/a")


@pytest.mark.matrix
@pytest.mark.parametrize("tag", ["", "type=module data-domain=acme"], ids=["no-domain", "module"])
def test_a_tag_that_cannot_work_warns(tab: Tab, site: Site, tag: str) -> None:
    site.bodies["/a"] = f'<script src="{site.service.url}/views.js" {tag}></script>'
    tab.open("/a").seen("/a")
    tab.until(lambda: bool(tab.warnings), "a warning")
    assert tab.warnings == ["Docs views: needs a classic script with data-domain"]


# Visitors


@pytest.fixture
def remembering(site: Site) -> Site:
    """A site whose tag and project both ask for ids in the reader's browser."""
    site.attributes = "data-remember-visitors"
    set_analytics(site.tenant.project, first_party_ids=True)
    return site


def test_a_remembered_visitor_is_the_same_on_every_page(
    make_tab: Callable[..., Tab], remembering: Site, http: httpx.Client
) -> None:
    tab = make_tab().open("/a")
    tab.seen("/a")
    tab.open("/b")
    one, two = tab.seen("/a", "/b")
    assert one["visitor"] == two["visitor"]
    assert tab.run("Object.entries(localStorage)") == [[f"docs-views:{remembering.tenant.domain}", one["visitor"]]]
    (other,) = make_tab().open("/a").seen("/a")  # same address, same user agent
    assert other["visitor"] != one["visitor"]
    assert remembering.counted(http, "visitors") == {"total": 2, "/a": 2, "/b": 1}


@pytest.mark.parametrize(
    ("attributes", "script", "headers"),
    [
        (
            "data-remember-visitors",
            "Object.defineProperty(navigator, 'globalPrivacyControl', { value: true });",
            {"Sec-GPC": "1"},
        ),
        pytest.param(
            "data-remember-visitors",
            "Object.defineProperty(navigator, 'doNotTrack', { value: '1' });",
            {"DNT": "1"},
            marks=pytest.mark.matrix,
        ),
        pytest.param("data-remember-visitors=false", "", {}, marks=pytest.mark.matrix),
        pytest.param("", "", {}, marks=pytest.mark.matrix),
    ],
    ids=["gpc", "dnt", "false", "not-asked"],
)
def test_nothing_is_kept_of_others(
    make_tab: Callable[..., Tab], remembering: Site, attributes: str, script: str, headers: dict[str, str]
) -> None:
    remembering.attributes = attributes
    (view,) = make_tab(script, extra_http_headers=headers).open("/a").seen("/a")
    assert "visitor" not in view
    assert make_tab(script).open("/a").run("localStorage.length") == 0


@pytest.mark.matrix
def test_without_storage_a_view_is_told_without_an_id(make_tab: Callable[..., Tab], remembering: Site) -> None:
    closed = (
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); } });"
    )
    (view,) = make_tab(closed).open("/a").seen("/a")
    assert "visitor" not in view
