"""The widget in a browser: first against the running service, then against answers that are scripted here."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from assistant.models import AssistantSettings
from tests.browser.conftest import COUNT_VIOLATIONS, OPEN_ROOTS, SharedHostTab, box_of
from tests.conftest import Tenant, wait_for

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 780}

Event = dict[str, Any]
Script = Callable[[WebSocketRoute, dict[str, Any]], None]

START: Event = {"type": "start", "messageId": "msg_1", "messageMetadata": {"threadId": "thr_1"}}
SEARCH: Event = {"type": "tool-input-available", "toolCallId": "c", "toolName": "search", "input": {}}
FOUND: Event = {
    "type": "tool-output-available",
    "toolCallId": "c",
    "output": [{"path": "/install", "metadata": {"title": "Installation"}}],
}
FINISH: Event = {"type": "finish", "messageMetadata": {"threadId": "thr_1"}}


def delta(text: str) -> Event:
    return {"type": "text-delta", "id": "txt_1", "delta": text}


def source(url: str, title: str) -> Event:
    return {"type": "source-url", "sourceId": "src_1", "url": url, "title": title}


class Host:
    """A page that carries the embed tag, on the service's own origin so that the socket lets it in."""

    def __init__(self, page: Page, url: str, domain: str, key: str, shared: SharedHostTab | None = None) -> None:
        self.page = page
        self.shared = shared
        self.url = url
        self.tag = f'<script async src="{url}/widget.js" data-domain="{domain}" data-key="{key}"></script>'
        self.asked: list[dict[str, Any]] = []
        self.sockets: list[WebSocketRoute] = []
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))

    def open(self, *, path: str = "/host", attributes: str = "", body: str = "", csp: str = "") -> "Host":
        """Show the page, with a content security policy when one is given."""
        html = (
            f"<!doctype html><html lang=en {attributes}><head><meta charset=utf-8>"
            f'<meta name=viewport content="width=device-width"><title>Host</title>{self.tag}</head>'
            f"<body><h1>Host page</h1>{body}</body></html>"
        )
        headers = {"Content-Type": "text/html; charset=utf-8"}
        if csp:
            headers["Content-Security-Policy"] = csp
        self.page.route(
            re.compile(re.escape(self.url) + r"/(host|install).*"),
            lambda route: route.fulfill(body=html, headers=headers),
        )
        self.page.goto(self.url + path)
        return self

    def script(self, play: Script) -> "Host":
        """Answer the socket here: `play` is called with each question."""

        def connect(socket: WebSocketRoute) -> None:
            self.sockets.append(socket)

            def receive(raw: str | bytes) -> None:
                message = json.loads(raw)
                self.asked.append(message)
                play(socket, message)

            socket.on_message(receive)

        if self.shared:
            self.shared.route_sockets(connect)
        else:
            self.page.route_web_socket(re.compile(r"/discovery/v1/assistant/.*/socket"), connect)
        return self

    def answer(self, *events: Event) -> "Host":
        """Answer every question with these events."""
        return self.script(
            lambda socket, message: [send(socket, event) for event in events] if message["type"] == "ask" else None
        )

    def show(self) -> None:
        """Open the panel, and wait until it has taken the place of its skeleton."""
        self.launcher.click()
        expect(self.panel.locator(".content")).to_be_attached()

    def ask(self, text: str) -> None:
        if not self.panel.is_visible():
            self.show()
        self.field.fill(text)
        self.field.press("Enter")

    def focused(self) -> str:
        """The accessible label, or else the tag, of what has the focus, inside the shadow roots too."""
        return str(
            self.page.evaluate(
                """() => {
                    let at = document.activeElement;
                    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
                    return at?.getAttribute("aria-label") ?? at?.tagName ?? "";
                }"""
            )
        )

    @property
    def launcher(self) -> Any:
        return self.page.get_by_role("button", name="Ask the docs")

    @property
    def panel(self) -> Any:
        return self.page.get_by_role("dialog", name="Ask the docs")

    @property
    def field(self) -> Any:
        return self.page.get_by_label("Your question")

    @property
    def answers(self) -> Any:
        return self.panel.locator(".answer")

    @property
    def prose(self) -> Any:
        return self.panel.locator(".prose")

    def button(self, name: str) -> Any:
        return self.panel.get_by_role("button", name=name, exact=True)


def send(socket: WebSocketRoute, event: Event) -> None:
    socket.send(json.dumps(event))


@pytest.fixture
def make_host(browser: Browser, service: Any, reading_project: Tenant) -> Iterator[Callable[..., Host]]:
    """A host page in a context of its own, for options, real sockets and tests that change their project."""
    contexts = []

    def make(permissions: tuple[str, ...] = (), tenant: Tenant = reading_project, **options: Any) -> Host:
        # To Chromium a page that `route` made up is a public one, which must ask before it reaches loopback.
        context = browser.new_context(permissions=["local-network-access", *permissions], **options)
        contexts.append(context)
        context.add_init_script(OPEN_ROOTS)
        context.add_init_script(COUNT_VIOLATIONS)
        return Host(context.new_page(), service.url, tenant.domain, tenant.assistant_key)

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def host(shared_host_tab: SharedHostTab, service: Any, reading_project: Tenant) -> Host:
    """A host page in the shared tab, where no socket reaches the service."""
    page = shared_host_tab.reset()
    return Host(page, service.url, reading_project.domain, reading_project.assistant_key, shared_host_tab)


# Against the running service


def test_it_cites_sources_and_a_second_question_goes_on_with_the_thread(
    make_host: Callable[..., Host], project: Tenant
) -> None:
    host = make_host(tenant=project)
    frames: list[str] = []
    host.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(str(frame))))
    host.open().ask("How do I install acme?")
    expect(host.answers).to_have_attribute("data-phase", "done")
    expect(host.prose).to_contain_text(re.compile("install", re.IGNORECASE))
    cite = host.prose.locator("sup a").first
    item = host.panel.locator(".sources li").first
    expect(item).to_be_visible()
    assert cite.inner_text() == item.locator(".number").inner_text()
    assert str(cite.get_attribute("href")).startswith("http")
    host.ask("And how do I install an older version of acme?")
    expect(host.answers).to_have_count(2)
    expect(host.answers.last).to_have_attribute("data-phase", "done")
    assert json.loads(frames[1])["threadId"]
    assert host.panel.get_by_text("new conversation").count() == 0
    assert host.errors == []


# The loader


def test_only_the_launcher_is_loaded_until_it_is_needed(host: Host) -> None:
    wanted: list[str] = []
    host.page.on("request", lambda request: wanted.append(request.url))
    host.open()
    expect(host.launcher).to_be_visible()
    host.page.wait_for_load_state("networkidle")
    assert not [url for url in wanted if "panel.js" in url]
    host.launcher.hover()
    host.page.wait_for_event("requestfinished", lambda request: "panel.js" in request.url)


def test_the_page_gets_one_global_and_a_root_that_stays_closed(browser: Browser, host: Host) -> None:
    page = browser.new_page()
    plain = Host(page, host.url, "", "")
    plain.tag = host.tag
    plain.open()
    page.wait_for_function("window.DocsAssistant")
    assert page.evaluate("document.querySelector('docs-assistant').shadowRoot") is None
    assert page.evaluate("Object.keys(DocsAssistant)") == ["init", "open", "close", "ask", "update", "reset", "destroy"]
    assert plain.errors == []
    page.close()


@pytest.mark.matrix
def test_the_page_can_drive_it_and_take_it_away(host: Host) -> None:
    host.answer(START, delta("Yes."), FINISH).open()
    host.page.wait_for_function("window.DocsAssistant")
    host.page.evaluate("DocsAssistant.ask('Is it?')")
    expect(host.prose).to_have_text("Yes.")
    host.page.evaluate("DocsAssistant.close()")
    expect(host.panel).to_be_hidden()
    host.page.evaluate("DocsAssistant.open()")
    expect(host.panel).to_be_visible()
    host.page.evaluate("DocsAssistant.destroy()")
    expect(host.page.locator("docs-assistant")).to_have_count(0)
    assert host.page.evaluate("document.adoptedStyleSheets.length") == 0


@pytest.mark.matrix
def test_a_tag_without_a_key_leaves_the_page_alone(host: Host) -> None:
    host.tag = host.tag.replace("data-key", "data-other")
    host.open()
    host.page.wait_for_load_state("networkidle")
    expect(host.page.locator("docs-assistant")).to_have_count(0)
    assert host.errors == []


def test_a_strict_policy_with_trusted_types_is_kept(make_host: Callable[..., Host], project: Tenant) -> None:
    host = make_host(tenant=project)
    policy = (
        f"default-src 'none'; script-src {host.url}; connect-src {host.url} {host.url.replace('http', 'ws', 1)}; "
        "require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'"
    )
    host.open(csp=policy).ask("How do I install acme?")
    expect(host.answers).to_have_attribute("data-phase", "done")
    assert host.page.evaluate("violations") == []
    assert host.panel.evaluate("(panel) => getComputedStyle(panel).position") == "fixed"


def test_nothing_is_asked_of_another_origin(host: Host) -> None:
    wanted: list[str] = []
    host.page.on("request", lambda request: wanted.append(request.url))
    image = "![chart](https://elsewhere.example/x.png) <img src=https://elsewhere.example/y.png>"
    host.answer(START, delta(image + " Done."), FINISH).open().ask("Draw it.")
    expect(host.prose).to_contain_text("Done.")
    assert [url for url in wanted if not url.startswith(host.url)] == []
    assert [url for url in wanted if "svc_" in url or "Draw" in url] == [], "neither keys nor words are in addresses"


# How a conversation may start

STARTERS = ["How do I install acme?", "Was ist ein Etikett?"]


@pytest.mark.matrix
def test_the_owners_questions_are_offered_where_nothing_was_asked(
    make_host: Callable[..., Host], project: Tenant
) -> None:
    host = make_host(tenant=project)
    AssistantSettings.objects.create(project=project.project, starter_questions=STARTERS)
    asked: list[str] = []
    host.page.on("request", lambda request: "/discovery/" in request.url and asked.append(request.url))
    host.open()
    host.launcher.click()
    starters = host.panel.get_by_role("list", name="Questions to start with").get_by_role("button")
    expect(starters).to_have_text(STARTERS)
    assert min(box_of(starters.nth(number))["height"] for number in range(2)) >= 44
    is_first = "(first) => first.getRootNode().activeElement === first"
    for _ in range(5):
        if not starters.first.evaluate(is_first):
            host.page.keyboard.press("Shift+Tab")
    assert starters.first.evaluate(is_first)
    host.page.keyboard.press("Enter")
    expect(host.panel.locator(".question")).to_contain_text(STARTERS[0])
    expect(host.answers).to_have_attribute("data-phase", "done")
    expect(starters.first).to_be_hidden()
    assert host.focused() == "Your question"
    host.button("New conversation").click()
    expect(starters).to_have_text(STARTERS)
    assert asked == [f"{host.url}/discovery/v1/widget/{project.domain}"]
    assert host.errors == []


@pytest.mark.matrix
def test_on_a_phone_a_starter_brings_up_no_keyboard(make_host: Any, project: Any) -> None:
    AssistantSettings.objects.create(project=project.project, starter_questions=["Long? " * 20] * 3)
    host = make_host(tenant=project, viewport={"width": 320, "height": 400}).answer(START, delta("Yes."), FINISH).open()
    host.launcher.click()
    host.panel.locator(".starters button").last.click()  # Playwright scrolls to it
    expect(host.prose).to_have_text("Yes.")
    assert host.focused() == "DIALOG"


# What is sent


@pytest.mark.matrix
def test_a_question_carries_what_the_service_needs(host: Host, reading_project: Any) -> None:
    host.answer(START, delta("Yes."), FINISH).open(path="/host/first").ask("Is it?")
    expect(host.prose).to_have_text("Yes.")
    host.page.evaluate("history.pushState(null, '', '/host/second')")
    host.ask("Still?")
    expect(host.prose).to_have_count(2)
    first, second = host.asked
    assert first["key"] == reading_project.assistant_key
    assert first["trigger"] == "submit-message"
    assert first["messages"] == [
        {"id": first["messages"][0]["id"], "role": "user", "parts": [{"type": "text", "text": "Is it?"}]}
    ]
    assert "threadId" not in first
    assert second["threadId"] == "thr_1"
    assert (first["currentPath"], second["currentPath"]) == ("/host/first", "/host/second")
    assert first["fp"] == second["fp"]
    assert first["id"] == second["id"]
    assert len(host.sockets) == 1


@pytest.mark.matrix
def test_the_fingerprint_stays_and_a_new_conversation_has_a_new_id(host: Host) -> None:
    host.answer(START, delta("Yes."), FINISH).open().ask("One?")
    expect(host.answers).to_have_attribute("data-phase", "done")
    host.button("New conversation").click()
    expect(host.panel.get_by_text("What are you looking for?")).to_be_visible()
    host.ask("Two?")
    expect(host.answers).to_have_attribute("data-phase", "done")
    one, two = host.asked
    assert one["fp"] == two["fp"]
    assert one["id"] != two["id"]
    assert "threadId" not in two


# While an answer comes


@pytest.mark.matrix
def test_the_status_follows_what_really_happens(host: Host) -> None:
    host.script(lambda socket, message: None).open().ask("How?")
    status = host.panel.locator(".status")
    live = host.panel.get_by_role("status")
    expect(status).to_have_text("Sending…")
    for event, text in (
        (SEARCH, "Searching the docs…"),
        (FOUND, "Reading Installation"),
        (delta("Run"), "Answering…"),
    ):
        send(host.sockets[0], event)
        expect(status).to_have_text(text)
    expect(live).to_have_text("Answering…")
    send(host.sockets[0], delta(" it. Then rest."))
    send(host.sockets[0], source(host.url + "/install", "Installation"))
    send(host.sockets[0], FINISH)
    expect(status).to_be_hidden()
    expect(live).to_have_text("Run it. Answer complete, 1 source.")
    expect(host.panel.get_by_role("log")).to_have_attribute("aria-live", "off")


@pytest.mark.matrix
def test_stop_keeps_the_text_and_the_next_question_is_answered(host: Host) -> None:
    def play(socket: WebSocketRoute, message: dict[str, Any]) -> None:
        if message["type"] == "stop":
            send(socket, {"type": "abort"})
            send(socket, {"type": "finish"})
        elif len(host.asked) == 1:
            send(socket, START)
            send(socket, delta("Half an"))
        else:
            for event in (START, delta("Whole."), FINISH):
                send(socket, event)

    host.script(play).open().ask("How?")
    expect(host.prose).to_have_text("Half an")
    host.button("Stop").click()
    expect(host.answers).to_have_attribute("data-phase", "stopped")
    expect(host.prose).to_have_text("Half an")
    assert [message["type"] for message in host.asked] == ["ask", "stop"]
    host.ask("And now?")
    expect(host.prose.last).to_have_text("Whole.")


@pytest.mark.matrix
def test_escape_stops_first_and_then_closes(host: Host) -> None:
    host.script(lambda socket, message: send(socket, delta("Half"))).open().ask("How?")
    expect(host.prose).to_have_text("Half")
    host.page.keyboard.press("Escape")
    expect(host.answers).to_have_attribute("data-phase", "stopped")
    expect(host.panel).to_be_visible()
    host.page.keyboard.press("Escape")
    expect(host.panel).to_be_hidden()
    assert host.focused() == "Ask the docs"


@pytest.mark.matrix
def test_a_lost_socket_keeps_the_text_and_offers_to_try_again(host: Host) -> None:
    def play(socket: WebSocketRoute, message: dict[str, Any]) -> None:
        if len(host.asked) == 1:
            send(socket, delta("Half"))
            socket.close(code=1011)
        else:
            send(socket, delta("Whole."))
            send(socket, FINISH)

    host.script(play).open().ask("How?")
    expect(host.answers).to_have_attribute("data-phase", "failed")
    expect(host.prose).to_have_text("Half")
    expect(host.answers).to_contain_text("connection was lost")
    host.button("Try again").click()
    expect(host.prose).to_have_text("Whole.")
    expect(host.answers).to_have_count(1)
    assert host.asked[0]["messages"] == host.asked[1]["messages"]


@pytest.mark.matrix
def test_a_long_answer_is_read_from_its_start_and_can_be_followed(host: Host) -> None:
    host.script(lambda socket, message: None).open().ask("Tell me all.")
    send(host.sockets[0], delta("\n\n".join(f"Paragraph {n}." for n in range(60))))
    expect(host.prose).to_contain_text("Paragraph 59.")
    log = host.panel.get_by_role("log")
    assert log.evaluate("(log) => log.scrollTop") == 0
    host.button("Jump to latest").click()
    send(host.sockets[0], delta("\n\n".join(f"More {n}." for n in range(60))))
    expect(host.prose).to_contain_text("More 59.")
    wait_for(lambda: log.evaluate("(log) => log.scrollHeight - log.scrollTop - log.clientHeight") < 2, "the very end")
    log.hover()
    host.page.mouse.wheel(0, -400)
    expect(host.button("Jump to latest")).to_be_visible()
    before = log.evaluate("(log) => log.scrollTop")
    send(host.sockets[0], delta("\n\nEven more.\n\nAnd more."))
    expect(host.prose).to_contain_text("And more.")
    assert log.evaluate("(log) => log.scrollTop") == before


# What an answer may do


def test_hostile_markdown_stays_text(host: Host) -> None:
    hostile = (
        "<img src=x onerror='window.bad=1'><script>window.bad=1</script> [x](javascript:window.bad=1) "
        "[1](data:text/html,x) **ok** [away](https://evil.example/)\n\n"
        "<div onclick=bad()>z</div>\n\n- <style>*{}</style>"
    )
    host.answer(START, delta(hostile), FINISH).open().ask("Be bad.")
    expect(host.answers).to_have_attribute("data-phase", "done")
    expect(host.prose.locator("strong")).to_have_text("ok")
    assert host.prose.locator("img, script, style, div, [onclick]").count() == 0
    links = host.prose.locator("a")
    assert [link.get_attribute("href") for link in links.all()] == ["https://evil.example/"]
    assert links.first.get_attribute("rel") == "noopener noreferrer nofollow"
    assert links.first.get_attribute("target") == "_blank"
    expect(links.first).to_contain_text("evil.example")
    assert host.page.evaluate("window.bad") is None


@pytest.mark.matrix
def test_a_link_to_the_same_site_opens_in_place_and_the_panel_stays(host: Host) -> None:
    link = host.url + "/install#pip"
    host.answer(START, source(link, "Installation"), delta(f"Run it [1]({link})."), FINISH).open().ask("How?")
    cite = host.prose.get_by_role("link", name="Source 1: Installation")
    assert cite.get_attribute("target") is None
    cite.click()
    host.page.wait_for_url("**/install#pip")
    expect(host.panel).to_be_visible()
    expect(host.prose).to_contain_text("Run it")


# Keyboard, memory, themes, small screens


@pytest.mark.matrix
def test_enter_sends_but_not_with_shift_nor_in_a_composition(host: Host) -> None:
    host.answer(START, delta("Yes."), FINISH).open()
    host.show()
    expect(host.field).to_be_focused()
    host.field.fill("にほん")
    for init in ("isComposing: true", "keyCode: 229"):
        host.field.evaluate(
            f"(field) => field.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'Enter', bubbles: true, {init} }}))"
        )
    expect(host.field).to_have_value("にほん")
    host.field.fill("")
    height = box_of(host.field)["height"]
    host.field.press_sequentially("One")
    host.field.press("Shift+Enter")
    host.field.press_sequentially("two")
    assert box_of(host.field)["height"] > height
    assert host.asked == []
    host.field.press("Enter")
    expect(host.prose).to_have_text("Yes.")
    assert host.asked[0]["messages"][0]["parts"][0]["text"] == "One\ntwo"


@pytest.mark.matrix
def test_typing_does_not_reach_shortcuts_of_the_page(host: Host) -> None:
    host.open()
    host.page.evaluate("window.keys = []; document.addEventListener('keydown', (event) => keys.push(event.key))")
    host.show()
    host.field.press_sequentially("/s")
    expect(host.field).to_have_value("/s")
    assert host.page.evaluate("keys") == []
    host.field.press("Control+k")  # opens the search of most sites
    assert host.page.evaluate("keys") == ["k"]
    expect(host.panel).to_be_visible()


@pytest.mark.matrix
def test_a_dialog_over_the_page_makes_way_for_the_sites_search(host: Host) -> None:
    host.open()
    host.page.evaluate("DocsAssistant.update({ variant: 'modal' })")
    host.show()
    host.field.press("Control+k")
    expect(host.panel).to_be_hidden()


@pytest.mark.matrix
def test_a_link_closes_a_popover_that_lies_over_the_text(host: Host) -> None:
    host.answer(START, delta(f"See [Installation]({host.url}/install#part)."), FINISH)
    host.open(body="<p>The text that a citation leads to.</p>").ask("How?")
    host.prose.get_by_role("link", name="Installation").click()
    host.page.wait_for_url("**/install#part")
    expect(host.launcher).to_be_visible()
    expect(host.panel).to_be_hidden()


@pytest.mark.matrix
def test_the_conversation_survives_a_reload_for_a_day(host: Host) -> None:
    host.answer(START, delta("Yes."), FINISH).open().ask("Is it?")
    expect(host.answers).to_have_attribute("data-phase", "done")
    host.page.reload()
    expect(host.panel).to_be_visible()
    expect(host.prose).to_have_text("Yes.")
    assert host.focused() == "BODY"
    host.page.evaluate(
        """() => {
            const key = Object.keys(localStorage).find((key) => key.includes(":thread:"));
            const saved = JSON.parse(localStorage.getItem(key));
            saved.at -= 25 * 60 * 60 * 1000;
            addEventListener("pagehide", () => localStorage.setItem(key, JSON.stringify(saved)));
        }"""
    )
    host.page.reload()
    expect(host.panel.get_by_text("What are you looking for?")).to_be_visible()


@pytest.mark.matrix
def test_it_follows_the_theme_of_the_page_at_once(make_host: Callable[..., Host]) -> None:
    host = make_host(color_scheme="dark")
    host.open()
    host.show()
    dark = host.panel.evaluate("(panel) => getComputedStyle(panel).backgroundColor")
    host.page.evaluate("document.documentElement.dataset.theme = 'light'")
    light = "rgb(255, 255, 255)"
    expect(host.panel).to_have_css("background-color", light)
    host.page.evaluate("document.documentElement.dataset.theme = ''; document.body.className = 'dark'")
    expect(host.panel).to_have_css("background-color", dark)
    assert dark != light
    host.page.evaluate("document.body.className = ''")
    host.page.emulate_media(color_scheme="light")
    expect(host.panel).to_have_css("background-color", light)
    marks = {  # as generators set them
        "html": ["data-bs-theme", "data-color-mode", "data-mantine-color-scheme", "theme"],
        "body": ["data-theme", "data-color-scheme"],
    }
    for element, names in marks.items():
        for name in names:
            host.page.locator(element).evaluate("(element, name) => element.setAttribute(name, 'dark')", name)
            expect(host.panel).to_have_css("background-color", dark)
            host.page.locator(element).evaluate("(element, name) => element.setAttribute(name, 'auto')", name)
            expect(host.panel).to_have_css("background-color", light)
    host.page.evaluate("document.body.className = 'sidebar-dark theme-dark'")
    expect(host.panel).to_have_css("background-color", dark)
    host.page.evaluate("document.body.className = 'sidebar-dark'")
    expect(host.panel).to_have_css("background-color", light)
    host.page.add_style_tag(content="[data-md-color-scheme=slate] { color-scheme: dark }")  # Material for MkDocs
    host.page.evaluate("document.body.dataset.mdColorScheme = 'slate'")
    expect(host.panel).to_have_css("background-color", dark)
    host.page.evaluate("document.documentElement.dataset.darkTheme = 'dark'; document.body.dataset.mdColorScheme = ''")
    expect(host.panel).to_have_css("background-color", light)


@pytest.mark.matrix
def test_it_follows_the_background_of_a_page_without_marks(make_host: Callable[..., Host]) -> None:
    """Minima is light in a dark system, and Just the Docs replaces its style sheet."""
    host = make_host(color_scheme="dark")
    sheets = {"light": "body { background: #fdfdfd }", "dark": "body { background: #27262b }"}
    host.page.route(
        re.compile("/(dark|light).css$"),
        lambda route: route.fulfill(body=sheets[route.request.url[-9:-4].strip("/")], content_type="text/css"),
    )
    host.open()
    host.page.evaluate("document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet' }))")
    for name in ("light", "dark", "light"):
        host.page.locator("link").evaluate("(link, name) => (link.href = `/${name}.css`)", name)
        expect(host.launcher).to_have_css("color-scheme", name)


@pytest.mark.matrix
def test_a_phone_gets_a_sheet_that_keeps_the_focus(make_host: Callable[..., Host]) -> None:
    host = make_host(viewport=PHONE, has_touch=True)
    link = host.url + "/install"
    host.answer(START, source(link, "Installation"), delta("Yes."), FINISH).open()
    host.show()
    expect(host.panel).to_be_visible()
    host.panel.evaluate("(panel) => Promise.all(panel.getAnimations().map((motion) => motion.finished))")
    assert box_of(host.panel) == {"x": 0, "y": 0, **PHONE}
    expect(host.panel).to_have_attribute("aria-modal", "true")
    assert host.focused() == "DIALOG"
    host.ask("Is it?")
    expect(host.answers).to_have_attribute("data-phase", "done")
    for _ in range(12):
        host.page.keyboard.press("Tab")
        assert host.focused() != "BODY"
        assert host.page.evaluate("document.activeElement.tagName") == "DOCS-ASSISTANT"
    host.button("Close").click()
    expect(host.panel).to_be_hidden()
    assert host.focused() == "Ask the docs"
    assert host.page.evaluate("getComputedStyle(document.documentElement).overflowY") == "visible"


@pytest.mark.matrix
def test_every_button_is_large_enough_to_touch(host: Host) -> None:
    host.answer(START, delta("```sh\nls\n```"), {"type": "error", "errorText": "Gone.", "status": 503}).open().ask(
        "How?"
    )
    expect(host.answers).to_have_attribute("data-phase", "failed")
    for button in host.panel.get_by_role("button").all():
        box = box_of(button)
        if box:
            assert min(box["width"], box["height"]) >= 44, button.get_attribute("aria-label")
