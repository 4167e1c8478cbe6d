"""The search tag on pages of other sites: keys and triggers, results, the assistant, themes, and navigation."""

import re
import time
from typing import Any

import jwt
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from docsite.core.tenants.models import ReaderKey
from search import sources
from search.indexing.ingest import ingest
from tests.browser.conftest import SharedHostTab, box_of, violations
from tests.browser.test_search import FIND, answer, result
from tests.conftest import Tenant, wait_for

pytestmark = pytest.mark.browser

WIDGET_TAG = '<script async src="{url}/widget.js" data-domain="{domain}" data-key="{key}" {attributes}></script>'
SEARCH_TAG = '<script async src="{url}/search.js" data-domain="{domain}" data-key="{key}" {attributes}></script>'


class SearchHost:
    """A page of another site with the search tag, on the service's own origin."""

    def __init__(self, page: Page, url: str, tenant: Tenant) -> None:
        self.page = page
        self.url = url
        self.tenant = tenant
        self.scripts: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: request.url.endswith(".js") and self.scripts.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def tag(self, template: str = SEARCH_TAG, attributes: str = "") -> str:
        tenant = self.tenant
        return template.format(url=self.url, domain=tenant.domain, key=tenant.assistant_key, attributes=attributes)

    def open(
        self, attributes: str = "", *, head: str | None = None, body: str = "", html: str = "", csp: str = ""
    ) -> "SearchHost":
        """Show the page, and wait for the tag's script."""
        text = (
            f"<!doctype html><html lang=en {html}><head><meta charset=utf-8><title>Host</title>"
            f'<meta name=viewport content="width=device-width">'
            f"{self.tag(attributes=attributes) if head is None else head}</head><body><h1>Host</h1>{body}</body></html>"
        )
        headers = {"Content-Type": "text/html; charset=utf-8", **({"Content-Security-Policy": csp} if csp else {})}
        self.page.route(
            re.compile(re.escape(self.url) + r"/(host|install|a\b|b\b).*"),
            lambda route: route.fulfill(body=text, headers=headers),
        )
        self.page.goto(self.url + "/host")
        return self

    @property
    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog", name="Search")

    @property
    def field(self) -> Locator:
        return self.dialog.get_by_role("combobox")

    @property
    def options(self) -> Locator:
        return self.dialog.get_by_role("option")


@pytest.fixture
def host(shared_host_tab: SharedHostTab, service: Any, reading_project: Tenant) -> SearchHost:
    return SearchHost(shared_host_tab.reset(), service.url, reading_project)


@pytest.mark.matrix
def test_keys_open_it_and_nothing_is_loaded_before(host: SearchHost) -> None:
    host.open()
    host.page.wait_for_load_state("networkidle")
    assert [url.rpartition("/")[2] for url in host.scripts] == ["search.js"]
    for keys in ("Control+k", "Meta+k", "/"):
        host.page.keyboard.press(keys)
        expect(host.field).to_be_focused()
        host.page.keyboard.press("Escape")
        expect(host.dialog).to_be_hidden()
    host.page.keyboard.press("Control+k")
    expect(host.field).to_be_focused()
    host.page.keyboard.press("Control+k")
    expect(host.dialog).to_be_hidden()
    expect(host.page.locator("docs-search")).to_have_count(0)
    assert host.errors == []


def test_results_of_the_service_come_while_typing(host: SearchHost, reading_project: Tenant) -> None:
    host.open()
    host.page.keyboard.press("/")
    host.page.keyboard.type("install")  # also the letters that come before the dialog has loaded
    expect(host.field).to_have_value("install")
    expect(host.options.first).to_be_visible()
    expect(host.options.locator("mark").first).to_be_visible()
    expect(host.dialog.get_by_role("status")).to_have_text(re.compile(r"^\d+ pages?$"))
    expect(host.options.first).to_have_attribute("aria-selected", "true")
    target = str(host.options.first.get_attribute("href"))
    assert target.startswith("https://docs.acme.example/")
    host.page.route("https://docs.acme.example/**", lambda route: route.fulfill(body="there"))
    host.field.press("Enter")
    host.page.wait_for_url(target)
    clicked = reading_project.project.searches.exclude(clicked_path="")
    wait_for(lambda: clicked.filter(text="install", position=1).exists(), "the click")


@pytest.mark.matrix
def test_a_page_that_was_opened_is_offered_again(host: SearchHost) -> None:
    host.open()
    answer(host.page, result("/a", "x", url=f"{host.url}/a"))
    host.page.keyboard.press("/")
    host.page.keyboard.type("x")
    host.options.filter(has_text="T").click()
    host.page.wait_for_url(host.url + "/a")
    host.page.keyboard.press("/")
    expect(host.options).to_have_count(1)
    host.field.press("ArrowDown")
    host.field.press("Control+s")
    expect(host.dialog.get_by_role("group", name="Favourites").get_by_role("option")).to_have_text("T")


@pytest.mark.matrix
@pytest.mark.parametrize("control", ['<input class="find" aria-label="Find">', '<button class="find">Find</button>'])
def test_a_control_of_the_site_opens_it_instead_of_the_sites_own_search(host: SearchHost, control: str) -> None:
    """Not even the focus may open the site's own, as the field of Material does."""
    own = """<script>for (const type of ["click", "focus"])
        document.querySelector(".find").addEventListener(type, () => (window.own = type));</script>"""
    host.open("data-trigger='.find'", body=control + own)
    find = host.page.locator(".find")
    find.hover()
    expect(host.dialog).to_be_hidden()
    wait_for(lambda: host.page.wait_for_timeout(20) or "search-dialog.js" in "".join(host.scripts), "the dialog")
    find.click()
    expect(host.field).to_be_focused()
    host.page.keyboard.press("Escape")
    expect(host.dialog).to_be_hidden()
    if "input" in control:
        assert host.page.evaluate("window.own") is None
        find.focus()
        host.page.keyboard.type("ins")
        expect(host.field).to_have_value("ins")
        expect(find).to_have_value("")
    else:
        expect(find).to_be_focused()
        assert host.page.evaluate("window.own") == "focus"


@pytest.mark.matrix
def test_a_button_comes_into_the_container_and_again_when_the_site_draws_it_anew(host: SearchHost) -> None:
    host.open("data-container='#bar'", body="<div id=bar></div>")
    button = host.page.get_by_role("button", name="Search")
    expect(button).to_be_visible()
    host.page.evaluate("document.querySelector('#bar').outerHTML = '<div id=bar></div>'")
    expect(button).to_have_count(1)
    button.click()
    expect(host.field).to_be_focused()
    host.page.keyboard.press("Escape")
    assert violations(host.page, "#bar") == []


@pytest.mark.matrix
@pytest.mark.parametrize("shortcuts", ["true", "false"])
def test_the_sites_own_keys_are_taken_over_unless_it_keeps_them(host: SearchHost, shortcuts: str) -> None:
    own = """<script>
        document.addEventListener("keydown", (event) => {
            if (event.key === "k" && event.ctrlKey) { event.preventDefault(); window.own = (window.own ?? 0) + 1; }
        }, true);
    </script>"""
    host.open(f"data-shortcuts={shortcuts}", body=own + "<input aria-label=Other><p contenteditable id=text>x</p>")
    host.page.wait_for_load_state("networkidle")
    host.page.get_by_label("Other").press_sequentially("/x")
    expect(host.page.get_by_label("Other")).to_have_value("/x")
    expect(host.dialog).to_be_hidden()
    host.page.evaluate("document.activeElement.blur()")
    host.page.keyboard.press("Control+k")
    if shortcuts == "true":
        expect(host.field).to_be_focused()
    assert host.page.evaluate("window.own ?? 0") == (0 if shortcuts == "true" else 1)


@pytest.mark.matrix
def test_the_first_row_asks_in_the_widget_if_there_is_one(host: SearchHost) -> None:
    host.open(head=host.tag() + host.tag(WIDGET_TAG))
    expect(host.page.get_by_role("button", name="Ask the docs")).to_be_visible()
    answer(host.page, result("/a", "x"))
    host.page.keyboard.press("/")
    host.page.keyboard.type("why x")
    expect(host.options).to_have_text(["Ask: why x", re.compile("^T")])
    expect(host.options.nth(1)).to_have_attribute("aria-selected", "true")
    host.field.press("ArrowUp")
    host.field.press("Enter")
    chat = host.page.get_by_role("dialog", name="Ask the docs")
    expect(chat.get_by_role("article").first).to_contain_text("why x")
    expect(chat.get_by_role("textbox")).to_be_focused()
    host.page.keyboard.press("Control+k")  # from the widget's own field
    expect(host.field).to_be_focused()


@pytest.mark.matrix
def test_without_the_widget_nobody_can_be_asked(host: SearchHost) -> None:
    host.open()
    answer(host.page)
    host.page.keyboard.press("/")
    host.page.keyboard.type("xyzzy")
    expect(host.dialog.get_by_role("status")).to_have_text("No results for “xyzzy”.")
    expect(host.options).to_have_count(0)


@pytest.mark.matrix
def test_one_tag_brings_both(host: SearchHost) -> None:
    host.open("data-assistant data-accent=#0a6b5d")
    launcher = host.page.get_by_role("button", name="Ask the docs")
    expect(launcher).to_have_css("background-color", "color(srgb 0.0392157 0.419608 0.364706)")
    host.page.keyboard.press("/")
    host.page.keyboard.type("why")
    expect(host.options.first).to_have_text("Ask: why")


@pytest.mark.matrix
def test_the_pages_version_and_language_come_first(host: SearchHost) -> None:
    host.open("data-version=2")
    asked: list[dict[str, Any]] = []

    def serve(route: Any) -> None:
        asked.append(route.request.post_data_json["filter"])
        old, new = result("/a", "old", version="1"), result("/b", "new", version="2")
        route.fulfill(json=[new] if asked[-1] else [old, new])

    host.page.route(re.compile(r"/discovery/v1/search/[^/]+$"), serve)
    host.page.keyboard.press("/")
    host.page.keyboard.type("x")
    expect(host.dialog.locator(".excerpt")).to_have_text(["new", "old"])
    assert asked == [{}, {"language": "en", "version": "2"}]
    chips = host.dialog.get_by_role("group", name="Version").get_by_role("button")
    expect(chips).to_have_text(["1", "2"])


DARK = "rgb(23, 24, 27)"
LIGHT = "rgb(255, 255, 255)"


@pytest.mark.matrix
def test_it_follows_the_theme_of_the_page(host: SearchHost) -> None:
    host.open(html="data-bs-theme=dark")
    host.page.keyboard.press("/")
    expect(host.dialog).to_have_css("background-color", DARK)
    host.page.evaluate("document.documentElement.dataset.bsTheme = 'light'")
    expect(host.dialog).to_have_css("background-color", LIGHT)


@pytest.mark.matrix
def test_a_site_with_its_own_navigation_need_not_load_the_page(host: SearchHost) -> None:
    router = """<script>
        document.addEventListener("click", (event) => {
            const link = event.target.closest("a");
            if (!link) return;
            event.preventDefault();
            history.pushState(null, "", link.href);
        });
    </script>"""
    host.open(body=router)
    answer(host.page, result("/a", "x", url=f"{host.url}/a"))
    host.page.evaluate("window.same = true")
    host.page.keyboard.press("/")
    host.page.keyboard.type("x")
    expect(host.options).to_have_count(1)
    host.field.press("Enter")
    expect(host.dialog).to_be_hidden()
    assert host.page.url == host.url + "/a"
    assert host.page.evaluate("window.same") is True
    host.page.evaluate("document.body.replaceWith(document.createElement('body'))")
    host.page.keyboard.press("/")
    expect(host.field).to_be_focused()


@pytest.mark.matrix
def test_enter_before_the_results_opens_the_first_of_them(host: SearchHost) -> None:
    host.open()
    searches: list[Route] = []
    host.page.route(FIND, lambda route: searches.append(route))
    host.page.keyboard.press("/")
    with host.page.expect_request(FIND):
        host.page.keyboard.type("x")
    host.page.keyboard.press("Enter")
    searches[0].fulfill(json=[result("/a", "x", url=f"{host.url}/a")])
    host.page.wait_for_url(host.url + "/a")


@pytest.mark.matrix
def test_next_js_changes_the_page_itself(host: SearchHost) -> None:
    host.open(body="<script>window.next = { router: { push: (href) => history.pushState(null, '', href) } };</script>")
    host.page.route("https://docs.acme.example/**", lambda route: route.fulfill(body="there"))
    answer(host.page, result("/a", "x", url=f"{host.url}/a#part"))
    host.page.evaluate("window.same = true")
    host.page.keyboard.press("/")
    host.page.keyboard.type("x")
    expect(host.options).to_have_count(1)
    host.field.press("Enter")
    expect(host.dialog).to_be_hidden()
    assert host.page.url == host.url + "/a#part"
    assert host.page.evaluate("window.same") is True
    answer(host.page, result("/b", "x", url="https://docs.acme.example/b"))  # another site
    host.page.keyboard.press("/")
    host.page.keyboard.type("y")
    expect(host.options).to_have_attribute("href", "https://docs.acme.example/b")
    host.field.press("Enter")
    host.page.wait_for_url("https://docs.acme.example/b")


@pytest.mark.matrix
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(host: SearchHost, scheme: Any) -> None:
    host.page.emulate_media(color_scheme=scheme)
    host.open(head=host.tag() + host.tag(WIDGET_TAG))
    more = [{"section": "More", "url": f"{host.url}/a#more", "score": 0.5}]
    answer(
        host.page,
        result("/a", "text with x", version="1", sections=more, url=f"{host.url}/a", breadcrumb=["Guides", "T"]),
        result("/b", "text with x", version="2"),
    )
    host.page.keyboard.press("/")
    host.page.keyboard.type("x")
    expect(host.dialog.get_by_role("button", name="1", exact=True)).to_be_visible()
    assert violations(host.page, "docs-search") == []
    host.options.filter(has_text="More").click()
    host.page.wait_for_url("**/a#more")
    host.page.keyboard.press("/")
    expect(host.options).to_have_count(1)
    assert violations(host.page, "docs-search") == []


@pytest.mark.matrix
def test_it_fills_a_phone(host: SearchHost) -> None:
    host.page.set_viewport_size({"width": 390, "height": 780})
    host.open("data-container='#bar'", body="<div id=bar></div>")
    host.page.get_by_role("button", name="Search").click()
    expect(host.field).to_be_focused()
    assert box_of(host.dialog) == {"x": 0, "y": 0, "width": 390, "height": 780}
    assert host.page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.matrix
def test_a_strict_policy_is_kept(host: SearchHost) -> None:
    csp = f"default-src 'none'; script-src {host.url}; connect-src {host.url}; require-trusted-types-for 'script'"
    host.open(csp=csp)
    host.page.keyboard.press("/")
    host.page.keyboard.type("install")
    expect(host.options.first).to_be_visible()
    assert host.page.evaluate("violations") == []


@pytest.mark.matrix
def test_a_search_that_cannot_be_loaded_leaves_the_page_its_keys(host: SearchHost) -> None:
    host.page.route("**/search-dialog.js*", lambda route: route.abort())
    host.open(body="<script>addEventListener('keydown', (event) => (window.pressed = event.key))</script>")
    for _ in range(2):
        with host.page.expect_console_message(lambda message: "could not be loaded" in message.text):
            host.page.keyboard.press("/")
    assert host.page.evaluate("window.pressed") is None
    host.page.keyboard.press("/")
    assert host.page.evaluate("window.pressed") == "/"


@pytest.fixture
def vault(shared_host_tab: SharedHostTab, service: Any, make_project: Any) -> SearchHost:
    tenant: Tenant = make_project()
    text = "# The quokka relay\n\nTo configure the quokka relay, write quokka.mode into its file."
    public = sources.Page("b", "/b", "# Start\n\nStart acme.")
    ingest(tenant.project, [sources.Page("a", "/a", text, groups=("staff",)), public])
    return SearchHost(shared_host_tab.reset(), service.url, tenant)


def token(tenant: Tenant) -> str:
    key = ReaderKey.objects.create(project=tenant.project, algorithm="HS256")
    claims = {"aud": tenant.domain, "exp": time.time() + 600, "groups": ["staff"]}
    return jwt.encode(claims, key.secret, "HS256", headers={"kid": key.kid})


@pytest.mark.matrix
def test_the_search_finds_protected_pages_with_a_token_and_remembers_none(vault: SearchHost) -> None:
    vault.open()
    vault.page.keyboard.press("Control+k")
    vault.field.fill("quokka relay")
    expect(vault.dialog.get_by_text("The quokka relay")).to_have_count(0)
    expect(vault.dialog.get_by_text("No ").first).to_be_visible()
    vault.page.evaluate(
        "token => (document.querySelector('script[src$=\"/search.js\"]').dataset.readerToken = token)",
        token(vault.tenant),
    )
    vault.field.fill("quokka relay file")
    found = vault.options.filter(has_text="The quokka relay").first
    expect(found).to_be_visible()
    docs = "https://docs.acme.example/**"
    vault.page.route(docs, lambda route: route.fulfill(body="A", content_type="text/html"))
    found.click()
    vault.page.wait_for_url(docs)
    vault.page.goto(f"{vault.url}/host")
    assert "quokka" not in vault.page.evaluate("JSON.stringify(localStorage)")


@pytest.mark.matrix
def test_the_widget_answers_from_protected_pages_with_a_token(vault: SearchHost) -> None:
    signed, ask = token(vault.tenant), "DocsAssistant.ask('How do I configure the quokka relay?')"
    vault.open(head=vault.tag(WIDGET_TAG))
    vault.page.wait_for_function("window.DocsAssistant")
    vault.page.evaluate(ask)
    widget = vault.page.locator("docs-assistant")
    expect(widget.get_by_text("find this in the documentation").first).to_be_visible()
    expect(widget.get_by_text("quokka.mode")).to_have_count(0)
    vault.open(head=vault.tag(WIDGET_TAG, f'data-reader-token="{signed}"'))
    vault.page.wait_for_function("window.DocsAssistant")
    vault.page.evaluate(ask)
    expect(widget.get_by_text("quokka.mode").first).to_be_visible()
