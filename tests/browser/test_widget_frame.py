"""How the widget stands on a page: what embeds it, how it looks, and that the page is left alone."""

import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.browser.conftest import InTwo, box_of
from tests.browser.test_widget import FINISH, START, Host, delta, make_host
from tests.browser.test_widget import host as plain_host
from tests.conftest import Tenant
from tests.variants import first_of

pytestmark = pytest.mark.browser

__all__ = ["make_host", "plain_host"]  # fixtures

ROOT = Path(__file__).resolve().parent.parent.parent
SETTINGS = re.compile(r"/discovery/v1/widget/")
PANEL = re.compile(r"/panel\.js")
VERY_WIDE: Any = {"width": 2000, "height": 900}
WIDE: ViewportSize = {"width": 1400, "height": 900}
SMALL: ViewportSize = {"width": 390, "height": 780}
FOREIGN = "https://elsewhere.example/"


@pytest.fixture
def host(plain_host: Host) -> Host:
    """A host page whose questions are all answered with yes."""
    return plain_host.answer(START, delta("Yes."), FINISH)


def tag(host: Host, attributes: str) -> Host:
    """The tag with more attributes."""
    host.tag = host.tag.replace("<script ", f"<script {attributes} ")
    return host


def serve_settings(host: Host, settings: Any) -> list[str]:
    """Answer the question for the owner's settings here; returns who asked."""
    asked: list[str] = []

    def answer(route: Any) -> None:
        asked.append(route.request.url)
        route.fulfill(json=settings, headers={"Access-Control-Allow-Origin": "*"})

    host.page.route(SETTINGS, answer)
    return asked


def warnings(host: Host) -> list[str]:
    """What the console is warned of from now on."""
    texts: list[str] = []

    def hear(message: Any) -> None:
        if message.type == "warning":
            texts.append(message.text)

    host.page.on("console", hear)
    return texts


def run(host: Host, script: str) -> Any:
    """The value of a script that uses the global, once that is there."""
    host.page.wait_for_function("window.DocsAssistant")
    return host.page.evaluate(script)


def settled(host: Host) -> dict[str, float]:
    """Where the panel is when it has stopped moving."""
    expect(host.panel.locator(".content")).to_be_attached()  # the skeleton has none
    host.panel.evaluate("(panel) => Promise.allSettled(panel.getAnimations().map((motion) => motion.finished))")
    return dict(box_of(host.panel))


def form(host: Host) -> str:
    return str(host.panel.get_attribute("data-form"))


def tab_to(host: Host, name: str) -> None:
    """Press Tab until something of that name has the focus."""
    for _ in range(20):
        if host.focused() == name:
            return
        host.page.keyboard.press("Tab")
    raise AssertionError(f"{name} cannot be reached by Tab")


# What embeds it


@pytest.mark.matrix
def test_without_a_domain_the_page_begins_when_it_likes(host: Host, reading_project: Tenant) -> None:
    host.tag = re.sub(r'data-\w+="[^"]*"', "", host.tag)
    host.open()
    domain, key = reading_project.domain, reading_project.assistant_key
    run(host, f"DocsAssistant.init({{ domain: '{domain}', key: '{key}', variant: 'modal' }})")
    host.launcher.click()
    settled(host)
    assert form(host) == "modal"
    assert "init() is done" in run(
        host, "(() => { try { DocsAssistant.init({ domain: 'a', key: 'b' }) } catch (e) { return e.message } })()"
    )
    assert "domain" in run(host, "(() => { try { DocsAssistant.init({}) } catch (e) { return e.message } })()")
    assert host.page.locator("docs-assistant").count() == 1
    assert host.errors == []


@pytest.mark.matrix
def test_calls_before_it_begins_are_warnings(host: Host) -> None:
    host.tag = re.sub(r'data-\w+="[^"]*"', "", host.tag)
    seen = warnings(host)
    host.open()
    run(host, "DocsAssistant.open(), DocsAssistant.close(), DocsAssistant.destroy(), DocsAssistant.update({})")
    assert len(seen) == 3
    assert host.errors == []


@pytest.mark.matrix
def test_a_second_tag_is_a_warning(host: Host) -> None:
    seen = warnings(host)
    host.open(body=host.tag)
    host.page.wait_for_load_state("networkidle")
    expect(host.page.locator("docs-assistant")).to_have_count(1)
    assert [text.count("\n") for text in seen] == [0]
    assert host.errors == []


HOLDS_THE_FIXED = [  # what makes a body the box of all that is fixed, or another measure
    "transform: scale(1)",
    "filter: contrast(1)",
    "will-change: transform",
    "contain: paint",
    "zoom: 1.5",
    "perspective: 9px",
    "content-visibility: auto",
]


@pytest.mark.matrix
@pytest.mark.parametrize("style", first_of(HOLDS_THE_FIXED, 1))
def test_it_stays_in_its_corner_whatever_the_page_does_with_its_body(host: Host, style: str) -> None:
    host.open(body=f"<style>body {{ {style} }}</style><p style='height: 3000px'>Page</p>")
    box = box_of(host.launcher)
    assert (box["x"] + box["width"], box["y"] + box["height"]) == (1280 - 16, 720 - 16)
    host.launcher.click()
    assert settled(host) == {"x": 1280 - 16 - 400, "y": 720 - 16 - 640, "width": 400, "height": 640}


@pytest.mark.matrix
def test_it_stays_in_its_corner_when_the_reader_changes_the_page(host: Host) -> None:
    host.open(body="<p style='height: 3000px'>Page</p>").ask("Is it?")
    expect(host.prose).to_have_text("Yes.")
    before = settled(host)
    host.page.evaluate("document.body.style.filter = 'invert(1)'")  # as a button for more contrast does
    expect(host.page.locator("html > docs-assistant")).to_have_count(1)
    assert settled(host) == before
    expect(host.prose).to_have_text("Yes.")
    assert host.errors == []


@pytest.mark.matrix
@pytest.mark.parametrize(
    "how", ["document.body.innerHTML = '<p>Other'", "document.querySelector('docs-assistant').remove()"]
)
def test_it_comes_back_to_a_page_that_takes_it_away(host: Host, how: str) -> None:
    host.open().ask("Is it?")
    expect(host.prose).to_have_text("Yes.")
    host.page.evaluate(how)
    expect(host.page.locator("docs-assistant")).to_have_count(1)
    expect(host.prose).to_have_text("Yes.")
    run(host, "DocsAssistant.destroy()")
    host.page.evaluate("document.body.innerHTML = ''")
    run(host, "DocsAssistant.open()")
    expect(host.page.locator("docs-assistant")).to_have_count(0)
    assert host.errors == []


@pytest.mark.matrix
def test_it_stays_where_pages_follow_each_other_quickly(host: Host) -> None:
    """As Turbo does it when a reader goes back twice: a preview and the page, each with a body of its own."""
    host.open()
    expect(host.launcher).to_be_visible()
    host.page.evaluate(
        """async () => {
            for (let i = 0; i < 6; i++) {
                document.documentElement.replaceChild(document.createElement("body"), document.body);
                await new Promise(requestAnimationFrame);
            }
        }"""
    )
    expect(host.launcher).to_be_visible()


@pytest.mark.matrix
def test_it_works_on_a_page_with_another_base_address(host: Host) -> None:
    host.page.route("**/elsewhere/**", lambda route: route.abort())
    host.open(body='<base href="/elsewhere/deep/">')
    host.ask("Is it?")
    expect(host.prose).to_have_text("Yes.")


def test_it_does_not_come_into_the_middle_of_a_page_that_is_still_read(host: Host, in_two: InTwo) -> None:
    url, go_on = in_two(
        f"<!doctype html><head>{host.tag}</head><body><header>Acme</header>", "<main>Docs</main></body>"
    )
    host.page.goto(url, wait_until="commit")
    host.page.wait_for_function("window.DocsAssistant", polling=50)
    expect(host.page.locator("docs-assistant")).to_have_count(0)
    go_on.set()
    expect(host.page.locator("header + main + docs-assistant")).to_have_count(1)


@pytest.mark.matrix
def test_it_does_not_fight_a_page_that_does_not_want_it_but_comes_when_called(host: Host) -> None:
    host.open()
    expect(host.launcher).to_be_visible()
    times = host.page.evaluate(
        """async () => {
            let times = 0;
            const observer = new MutationObserver(() => {
                const widget = document.querySelector("docs-assistant");
                if (widget && ++times < 1000) widget.remove();
            });
            observer.observe(document.body, { childList: true });
            document.querySelector("docs-assistant").remove();
            await new Promise((resolve) => setTimeout(resolve, 300));
            observer.disconnect();
            return times;
        }"""
    )
    assert 0 < times < 10
    expect(host.page.locator("docs-assistant")).to_have_count(0)
    host.page.keyboard.press("Control+i")
    expect(host.page.locator("docs-assistant")).to_have_count(0)
    run(host, "DocsAssistant.open()")
    expect(host.panel).to_be_visible()
    assert host.errors == []


@pytest.mark.parametrize(
    "body",
    first_of(
        [
            "<form id=DocsAssistant><input name=init></form><a id=DocsAssistant></a>",
            "<p id=DocsAssistant>",
            "<iframe name=DocsAssistant></iframe>",
        ],
        1,
    ),
)
def test_an_element_of_its_name_does_not_keep_it_away(host: Host, body: str) -> None:
    tag = host.tag.replace("async ", "")
    host.tag = ""
    host.open(body=body + tag)
    expect(host.launcher).to_be_visible()
    assert host.page.evaluate("typeof DocsAssistant.open") == "function"
    assert host.errors == []


@pytest.mark.matrix
def test_an_element_that_passes_for_its_script_is_no_script(host: Host) -> None:
    tag = host.tag.replace("async ", "")
    host.tag = ""
    seen = warnings(host)
    host.open(body=f"<img name=currentScript data-domain=x data-key=y>{tag}")
    host.page.wait_for_load_state("networkidle")
    assert ["classic script" in text for text in seen] == [True]
    expect(host.page.locator("docs-assistant")).to_have_count(0)


@pytest.mark.matrix
def test_wrong_arguments_are_no_errors_of_the_page(host: Host) -> None:
    host.open()
    run(
        host,
        """window.rejected = [];
           addEventListener("unhandledrejection", (event) => rejected.push(String(event.reason)));
           for (const wrong of [null, 1, "x", [], { context: null }, { context: [null, 1, { value: 2 }] }]) {
               DocsAssistant.update(wrong); DocsAssistant.open(wrong); DocsAssistant.close(wrong);
           }
           DocsAssistant.ask("Is it?", null)""",
    )
    expect(host.prose).to_have_text("Yes.")
    for wrong in ("undefined", "null", "{}"):
        message = run(host, f"(() => {{ try {{ DocsAssistant.ask({wrong}) }} catch (e) {{ return e.message }} }})()")
        assert "needs a text" in message
    assert host.page.evaluate("rejected") == []
    assert host.errors == []


@pytest.mark.matrix
def test_when_it_is_destroyed_the_tab_forgets_it(host: Host) -> None:
    host.open().ask("Is it?")
    expect(host.prose).to_have_text("Yes.")
    keys = "Object.keys(sessionStorage).filter((key) => key.endsWith(':tab')).length"
    assert host.page.evaluate(keys) == 1
    run(host, "DocsAssistant.destroy()")
    expect(host.page.locator("docs-assistant")).to_have_count(0)
    assert host.page.evaluate(keys) == 0


@pytest.mark.matrix
def test_it_can_be_taken_away_and_added_again(host: Host) -> None:
    host.open()
    before = run(host, "document.documentElement.outerHTML")
    host.ask("Is it?")
    expect(host.prose).to_have_text("Yes.")
    run(host, "DocsAssistant.destroy()")
    expect(host.page.locator("docs-assistant")).to_have_count(0)
    after = host.page.evaluate("document.documentElement.outerHTML")
    assert after == re.sub("<docs-assistant.*</docs-assistant>", "", before)
    src, domain, key = (re.search(f'{name}="([^"]+)"', host.tag)[1] for name in ("src", "data-domain", "data-key"))  # type: ignore[index]
    host.page.evaluate(
        "([src, domain, key]) => document.head.append(Object.assign(document.createElement('script'), { src })) "
        "|| Object.assign(document.head.lastChild.dataset, { domain, key })",
        [src, domain, key],
    )
    host.launcher.click()
    expect(host.prose).to_have_text("Yes.")
    run(host, f"DocsAssistant.destroy(), DocsAssistant.init({{ domain: '{domain}', key: '{key}' }})")
    expect(host.launcher).to_be_visible()
    assert host.errors == []


@pytest.mark.matrix
def test_reset_begins_a_new_conversation(host: Host) -> None:
    host.open().ask("Is it?")
    expect(host.prose).to_have_text("Yes.")
    run(host, "DocsAssistant.reset()")
    expect(host.answers).to_have_count(0)
    host.ask("Still?")
    expect(host.prose).to_have_text("Yes.")
    assert "threadId" not in host.asked[1]


@pytest.mark.matrix
def test_the_page_can_ask_and_say_what_it_is_about(host: Host) -> None:
    host.open()
    run(host, "DocsAssistant.ask('Why?', { context: [{ type: 'code', value: 'x = 1', path: '/host' }] })")
    expect(host.prose).to_have_text("Yes.")
    run(
        host,
        "DocsAssistant.close(), DocsAssistant.open({ context: [{ type: 'textSelection', value: 'Some words here' }] })",
    )
    expect(host.panel).to_contain_text("Some words here")
    assert "needs a text" in run(
        host, "(() => { try { DocsAssistant.ask(1) } catch (error) { return error.message } })()"
    )


@pytest.mark.matrix
def test_the_attributes_of_the_tag_are_options(host: Host) -> None:
    tag(
        host,
        'data-variant="modal" data-theme="dark" data-radius="4" data-side="left" data-align="top" data-z-index="7"',
    ).open()
    expect(host.page.locator("docs-assistant")).to_have_css("z-index", "7")
    box = box_of(host.launcher)
    assert (box["x"], box["y"]) == (16, 16)
    host.launcher.click()
    settled(host)
    assert form(host) == "modal"
    expect(host.panel).to_have_css("border-radius", "4px")
    expect(host.panel).to_have_css("background-color", "rgb(23, 24, 27)")


@pytest.mark.matrix
def test_a_wrong_attribute_is_told_and_the_default_used(host: Host) -> None:
    seen = warnings(host)
    tag(host, 'data-variant="popup" data-radius="round"').open()
    host.launcher.click()
    settled(host)
    assert form(host) == "widget"
    expect(host.panel).to_have_css("border-radius", "16px")
    assert [("variant" in text, "radius" in text) for text in seen] == [(True, False), (False, True)]
    assert "widget, panel, modal" in seen[0]


@pytest.mark.matrix
def test_hooks_are_told_and_cannot_break_it(host: Host, reading_project: Tenant) -> None:
    host.tag = re.sub(r'data-\w+="[^"]*"', "", host.tag)
    domain, key = reading_project.domain, reading_project.assistant_key
    host.open()
    run(
        host,
        f"""window.heard = [];
            function event(name, detail) {{ heard.push([name, JSON.stringify(detail)]); throw new Error('mine'); }}
            DocsAssistant.init({{ domain: '{domain}', key: '{key}', hooks: {{ event }} }})""",
    )
    host.ask("A secret question")
    expect(host.prose).to_have_text("Yes.")
    host.button("Close").click()
    expect(host.panel).to_be_hidden()
    names = [name for name, _ in host.page.evaluate("heard")]
    assert names[:2] == ["ready", "open"]
    assert names[-1] == "close"
    assert "secret" not in str(host.page.evaluate("heard"))
    assert host.errors == []


# Each option, live


@pytest.mark.matrix
def test_every_option_changes_at_once(host: Host) -> None:
    host.open().ask("Is it?")
    expect(host.prose).to_have_text("Yes.")
    host.field.fill("Unsent")
    panel = host.panel

    def update(options: str) -> None:
        run(host, f"DocsAssistant.update({options})")

    for theme, colour in {"dark": "rgb(23, 24, 27)", "light": "rgb(255, 255, 255)"}.items():
        update(f"{{ theme: '{theme}' }}")
        expect(panel).to_have_css("background-color", colour)
    update("{ accent: 'hsl(173 83% 23%)' }")
    expect(panel.locator(".send")).to_have_css("color", "rgb(255, 255, 255)")
    expect(panel.locator(".composer")).to_have_css("border-top-color", re.compile(r"^color\(srgb 0\.0391 0\.42"))
    update("{ accent: '#ffd400' }")
    for part in (panel.locator(".send"), panel.locator(".send .icon")):
        expect(part).to_have_css("color", "rgb(0, 0, 0)")
    host.page.wait_for_function(
        "(button) => getComputedStyle(button, '::before').backgroundColor.startsWith('color(srgb 1 0.83')",
        arg=panel.locator(".send").element_handle(),
    )
    update("{ radius: 0, font: 'Georgia, serif', zIndex: 12 }")
    expect(panel).to_have_css("border-radius", "0px")
    expect(panel).to_have_css("font-family", "Georgia, serif")
    expect(host.page.locator("docs-assistant")).to_have_css("z-index", "12")
    update("{ side: 'start' }")
    assert settled(host)["x"] == 16
    update("{ side: 'right', align: 'top' }")
    box = settled(host)
    assert (box["x"] + box["width"], box["y"]) == (1280 - 16, 16)
    for variant in ("panel", "modal", "widget"):
        update(f"{{ variant: '{variant}' }}")
        assert form(host) == variant
        expect(host.prose).to_have_text("Yes.")
        expect(host.field).to_have_value("Unsent")
        expect(host.field).to_be_focused()
    update("{ labels: { name: 'Fragen', question: 'Ihre Frage' } }")
    renamed = host.page.get_by_role("dialog", name="Fragen")
    expect(renamed.locator(".prose")).to_have_text("Yes.")
    expect(renamed.get_by_label("Ihre Frage")).to_have_value("Unsent")
    expect(renamed.get_by_label("Ihre Frage")).to_be_focused()
    update("{ labels: {} }")
    expect(host.field).to_have_value("Unsent")
    update("{ filter: { version: '2' }, starterQuestions: ['First?', 'Second?'] }")
    host.field.press("Enter")
    expect(host.prose).to_have_count(2)
    assert host.asked[1]["filter"] == {"version": "2"}
    run(host, "DocsAssistant.reset()")
    expect(panel.locator(".starters button")).to_have_text(["First?", "Second?"])
    update("{ shortcuts: false }")
    host.field.press("Control+i")
    expect(panel).to_be_visible()
    assert host.errors == []


@pytest.mark.matrix
def test_a_logo_is_of_the_pages_origin_or_the_services(host: Host) -> None:
    wanted: list[str] = []
    seen = warnings(host)
    image = "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'><rect width='8' height='8'/></svg>"
    host.page.on("request", lambda request: wanted.append(request.url))
    host.page.route("**/logo.svg", lambda route: route.fulfill(body=image, content_type="image/svg+xml"))
    host.page.route("**/broken.svg", lambda route: route.fulfill(status=404))
    tag(host, 'data-logo="/logo.svg"').open()
    expect(host.launcher.locator("img")).to_be_visible()
    host.launcher.click()
    expect(host.panel.locator("header > img")).to_be_visible()
    run(host, "DocsAssistant.update({ logo: '/broken.svg' })")
    expect(host.panel.locator("header > svg")).to_be_visible()
    run(host, "DocsAssistant.update({ logo: '/logo.svg' })")
    expect(host.panel.locator("header > img")).to_be_visible()
    run(host, "DocsAssistant.update({ logo: 'https://elsewhere.example/logo.png' })")
    expect(host.panel.locator("header > img")).to_be_visible()  # as it was
    assert ["logo" in text for text in seen] == [True]
    assert [url for url in wanted if not url.startswith(host.url)] == []


# The owner's settings


@pytest.mark.matrix
def test_the_owners_settings_are_asked_for_once_and_the_page_goes_before_them(host: Host) -> None:
    settings = {
        "enabled": True,
        "appearance": {"variant": "modal", "theme": "dark", "side": "start"},
        "labels": {"launcher": "Help me"},
        "starterQuestions": ["Owner's?"],
    }
    asked = serve_settings(host, settings)
    tag(host, 'data-theme="light"').open()
    expect(host.launcher).to_have_text("Help me")
    host.launcher.click()
    settled(host)
    assert form(host) == "modal"
    expect(host.panel).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(host.panel.locator(".starters button")).to_have_text(["Owner's?"])
    run(host, "DocsAssistant.update({ starterQuestions: ['The page’s?'] })")
    expect(host.panel.locator(".starters button")).to_have_text(["The page’s?"])
    assert len(asked) == 1


@pytest.mark.matrix
def test_the_next_page_looks_the_same_from_its_start(host: Host) -> None:
    serve_settings(
        host, {"enabled": True, "appearance": {"side": "start"}, "labels": {"launcher": "Help"}, "starterQuestions": []}
    )
    host.open()
    expect(host.launcher).to_have_text("Help")
    host.page.unroute(SETTINGS)
    host.page.route(SETTINGS, lambda route: None)  # hangs
    host.page.reload()
    expect(host.launcher).to_have_text("Help")
    expect(host.launcher).to_have_css("opacity", "1")
    assert box_of(host.launcher)["x"] == 16


@pytest.mark.matrix
@pytest.mark.parametrize("how", ["hangs", "fails", "breaks", "says nonsense"])
def test_without_the_owners_settings_it_works(host: Host, how: str) -> None:
    def answer(route: Any) -> None:
        if how == "fails":
            route.abort()
        elif how == "breaks":
            route.fulfill(status=502, body="<h1>Bad gateway</h1>")
        elif how == "says nonsense":
            route.fulfill(body="<h1>Welcome to this network</h1>")

    host.page.route(SETTINGS, answer)
    host.open()
    expect(host.launcher).to_have_css("opacity", "1")
    host.ask("Is it?")
    expect(host.prose).to_have_text("Yes.")


def test_where_it_is_not_allowed_readers_see_nothing_and_the_console_is_told(
    host: Host, reading_project: Tenant
) -> None:
    seen = warnings(host)
    host.page.route(FOREIGN, lambda route: route.fulfill(body=host.tag, content_type="text/html"))
    host.page.goto(FOREIGN)
    expect(host.page.locator("docs-assistant")).to_be_attached()
    expect(host.launcher).to_be_hidden()
    run(host, "DocsAssistant.open()")
    host.page.keyboard.press("Control+i")
    expect(host.panel).to_be_hidden()
    told_so = f"{FOREIGN[:-1]} is not an allowed origin of the project {reading_project.domain}"
    assert [told_so in text for text in seen] == [True]
    host.page.reload()
    host.page.wait_for_function("window.DocsAssistant")
    expect(host.launcher).to_be_hidden()


# Until the panel is there


def slow(host: Host) -> Callable[[], None]:
    """Hold the panel back; returns what lets it go."""
    held: list[Any] = []
    released = False
    host.page.route(PANEL, lambda route: route.continue_() if released else held.append(route))

    def release() -> None:
        nonlocal released
        released = True  # it may not have been asked for yet
        for route in held:
            route.continue_()

    return release


@pytest.mark.matrix
def test_what_is_written_while_it_loads_is_handed_on(host: Host) -> None:
    release = slow(host)
    host.open()
    host.launcher.click()
    expect(host.field).to_be_focused()
    host.page.keyboard.type("How do I")
    host.field.evaluate("(field) => field.setSelectionRange(4, 6)")
    release()
    expect(host.panel).to_contain_text("What are you looking for?")
    expect(host.page.get_by_role("dialog")).to_have_count(1)
    expect(host.field).to_have_value("How do I")
    expect(host.field).to_be_focused()
    assert host.field.evaluate("(field) => [field.selectionStart, field.selectionEnd]") == [4, 6]


@pytest.mark.matrix
def test_what_is_above_the_field_goes_along_with_what_is_sent_while_it_loads(host: Host) -> None:
    host.open()
    run(host, "DocsAssistant.open({ context: [{ type: 'code', value: 'x = 1' }] })")
    expect(host.panel).to_contain_text("1 line")
    host.button("Close").click()
    release = slow(host)
    host.page.reload()
    host.launcher.click()
    host.page.keyboard.type("What is this?")
    host.page.keyboard.press("Enter")
    release()
    expect(host.prose).to_have_text("Yes.")
    assert "x = 1" in str(host.asked)


@pytest.mark.matrix
def test_what_was_selected_before_it_loads_is_offered(host: Host) -> None:
    release = slow(host)
    host.open(body="<p id=text>Some words of the page</p>")
    host.page.locator("#text").select_text()
    host.launcher.click()
    expect(host.field).to_be_visible()
    release()
    expect(host.panel).to_contain_text("Some words of the page")
    expect(host.field).to_be_focused()


@pytest.mark.matrix
def test_what_is_closed_while_it_loads_stays_closed(host: Host) -> None:
    release = slow(host)
    host.open()
    host.launcher.click()
    host.page.keyboard.type("x")
    host.page.keyboard.press("Escape")
    expect(host.panel).to_have_count(0)
    assert host.focused() == "Ask the docs"
    with host.page.expect_request_finished(lambda request: "panel.js" in request.url):
        release()
    host.page.wait_for_function(
        "document.querySelector('docs-assistant').shadowRoot.querySelector('docs-assistant-panel')"
    )
    expect(host.panel).to_be_hidden()


@pytest.mark.matrix
def test_a_question_that_is_sent_while_it_loads_is_asked(host: Host) -> None:
    release = slow(host)
    host.open()
    host.launcher.click()
    host.page.keyboard.type("Is it?")
    host.page.keyboard.press("Enter")
    release()
    expect(host.prose).to_have_text("Yes.")
    expect(host.field).to_have_value("")
    assert len(host.asked) == 1


@pytest.mark.matrix
def test_a_question_that_could_not_be_asked_is_kept(host: Host) -> None:
    fails = [True]
    host.page.route(PANEL, lambda route: route.abort() if fails[0] else route.continue_())
    host.open()
    run(host, "DocsAssistant.ask('Is it?')")
    expect(host.panel).to_contain_text("could not be loaded")
    expect(host.field).to_have_value("Is it?")
    fails[0] = False
    host.button("Try again").click()
    expect(host.panel).to_contain_text("What are you looking for?")
    expect(host.field).to_have_value("Is it?")


# Its forms


@pytest.mark.matrix
def test_the_popover_opens_in_the_corner_of_its_launcher(host: Host) -> None:
    host.open()
    host.launcher.click()
    assert settled(host) == {"x": 1280 - 16 - 400, "y": 720 - 16 - 640, "width": 400, "height": 640}
    expect(host.launcher).to_be_hidden()
    assert host.panel.get_attribute("aria-modal") is None
    run(host, "DocsAssistant.update({ side: 'start', align: 'top' }), DocsAssistant.close()")
    assert box_of(host.launcher)["x"] == box_of(host.launcher)["y"] == 16


@pytest.mark.matrix
def test_the_panel_pushes_the_page_where_there_is_room(make_host: Callable[..., Host]) -> None:
    host = tag(make_host(viewport=VERY_WIDE), 'data-variant="panel"').open()
    body = "document.body.getBoundingClientRect().right"
    before = host.page.evaluate(body)
    host.launcher.click()
    assert settled(host) == {"x": 2000 - 380, "y": 0, "width": 380, "height": 900}
    assert host.page.evaluate(body) == before - 380
    host.button("Make wider").click()
    assert settled(host)["width"] == 580
    assert host.page.evaluate(body) == before - 580
    host.button("Make narrower").click()
    host.page.set_viewport_size({"width": 1280, "height": 900})  # too narrow for both: it lies over the page
    host.page.wait_for_function(f"{body} === 1280 - 8")
    run(host, "DocsAssistant.update({ side: 'start' })")
    host.page.set_viewport_size(VERY_WIDE)
    assert settled(host)["x"] == 0
    assert host.page.evaluate("document.body.getBoundingClientRect().left") == 380 + 8
    host.button("Close").click()
    expect(host.panel).to_be_hidden()
    assert host.page.evaluate(body) == before
    assert host.page.evaluate("document.adoptedStyleSheets.length") == 0


@pytest.mark.matrix
def test_a_modal_that_moves_to_a_new_body_is_over_that_one_too(host: Host) -> None:
    tag(host, 'data-variant="modal"').open()
    host.launcher.click()
    settled(host)
    host.page.evaluate("document.body.replaceWith(document.createElement('body'))")
    expect(host.panel).to_be_visible()
    assert host.panel.evaluate("(panel) => panel.matches(':modal')")


@pytest.mark.matrix
def test_the_modal_is_over_the_page_and_gives_it_back(host: Host) -> None:
    tag(host, 'data-variant="modal"').open(body="<a href=#x id=before>Link</a><p style='height: 3000px'>")
    host.page.evaluate("scrollTo(0, 400)")
    host.launcher.click()
    box = settled(host)
    assert (box["width"], box["x"]) == (640, 320)
    assert abs(box["y"] * 2 + box["height"] - 720) <= 1
    expect(host.panel).to_have_attribute("aria-modal", "true")
    assert host.page.evaluate("getComputedStyle(document.documentElement).overflowY") == "hidden"
    for _ in range(12):
        host.page.keyboard.press("Tab")
        assert host.page.evaluate("document.activeElement.tagName") == "DOCS-ASSISTANT"
    host.page.mouse.click(20, 20)  # beside it
    expect(host.panel).to_be_hidden()
    assert host.focused() == "Ask the docs"
    assert host.page.evaluate("[scrollY, document.adoptedStyleSheets.length]") == [400, 0]
    assert host.page.evaluate("getComputedStyle(document.documentElement).overflowY") == "visible"


@pytest.mark.matrix
def test_it_becomes_a_sheet_and_back_without_losing_anything(host: Host) -> None:
    host.open().ask("Is it?")
    expect(host.prose).to_have_text("Yes.")
    host.field.fill("Half a")
    host.field.evaluate("(field) => field.setSelectionRange(2, 4)")
    for size, shown in ((SMALL, "sheet"), (WIDE, "widget")):
        host.page.set_viewport_size(size)
        expect(host.panel).to_have_attribute("data-form", shown)
        assert host.panel.evaluate("(panel) => panel.matches(':modal')") is (shown == "sheet")
        assert host.panel.get_attribute("aria-modal") == ("true" if shown == "sheet" else None)
        expect(host.field).to_be_focused()
        expect(host.field).to_have_value("Half a")
        assert host.field.evaluate("(field) => [field.selectionStart, field.selectionEnd]") == [2, 4]
        expect(host.prose).to_have_text("Yes.")
    assert host.page.evaluate("document.adoptedStyleSheets.length") == 0


@pytest.mark.matrix
def test_it_follows_the_direction_of_the_page(host: Host) -> None:
    host.open(attributes="dir=rtl")
    assert box_of(host.launcher)["x"] == 16
    host.launcher.click()
    assert settled(host)["x"] == 16
    close = box_of(host.button("Close"))
    assert close["x"] < 100
    run(host, "DocsAssistant.update({ side: 'right' })")
    assert settled(host)["x"] == 1280 - 16 - 400
    host.page.evaluate("document.documentElement.dir = 'ltr'")
    expect(host.panel).to_have_attribute("data-side", "end")
    assert settled(host)["x"] == 1280 - 16 - 400


@pytest.mark.matrix
def test_it_follows_the_colour_scheme_of_the_page(make_host: Callable[..., Host]) -> None:
    host = make_host(color_scheme="dark").open(attributes="style='color-scheme: light'")
    host.launcher.click()
    expect(host.panel).to_have_css("background-color", "rgb(255, 255, 255)")
    host.page.evaluate("document.documentElement.style.colorScheme = 'light dark'")
    expect(host.panel).to_have_css("background-color", "rgb(23, 24, 27)")
    run(host, "DocsAssistant.update({ theme: 'light' })")
    expect(host.panel).to_have_css("background-color", "rgb(255, 255, 255)")


@pytest.mark.matrix
def test_it_is_not_printed(host: Host) -> None:
    tag(host, 'data-variant="modal"').open()
    host.launcher.click()
    settled(host)
    host.page.emulate_media(media="print")
    expect(host.panel).to_be_hidden()
    expect(host.launcher).to_be_hidden()


# Keyboard


@pytest.mark.matrix
def test_it_can_be_used_by_keyboard_alone(host: Host) -> None:
    host.open(body="<button>Of the page</button>")
    tab_to(host, "Ask the docs")
    host.page.keyboard.press("Enter")
    expect(host.field).to_be_focused()
    host.page.keyboard.type("Is it?")
    host.page.keyboard.press("Enter")
    expect(host.prose).to_have_text("Yes.")
    tab_to(host, "Send")
    host.page.keyboard.press("Tab")
    assert host.page.evaluate("document.activeElement.tagName") != "DOCS-ASSISTANT", "Tab leaves a popover"
    host.page.keyboard.press("Shift+Tab")
    host.page.keyboard.press("Escape")
    expect(host.panel).to_be_hidden()
    assert host.focused() == "Ask the docs"


@pytest.mark.matrix
@pytest.mark.parametrize("key", ["Control+i", "Meta+i"])
def test_a_shortcut_opens_and_closes_and_the_focus_goes_back(host: Host, key: str) -> None:
    host.open(body="<button aria-label=Mine>Of the page</button>")
    host.page.get_by_role("button", name="Mine").focus()
    host.page.wait_for_function("window.DocsAssistant")
    for _ in range(2):  # its skeleton may be the first, the panel is the second
        host.page.keyboard.press(key)
        expect(host.field).to_be_focused()
        host.page.keyboard.press(key)
        expect(host.panel).to_be_hidden()
        assert host.focused() == "Mine"


@pytest.mark.matrix
def test_another_shortcut_begins_a_new_conversation_while_open(host: Host) -> None:
    host.open(body="<button>Of the page</button>").ask("Is it?")
    expect(host.prose).to_have_text("Yes.")
    host.field.press("Control+Shift+O")
    expect(host.answers).to_have_count(0)
    host.ask("Still?")
    expect(host.prose).to_have_text("Yes.")
    host.page.get_by_text("Of the page").focus()
    host.page.keyboard.press("Control+Shift+O")
    expect(host.answers).to_have_count(0)


@pytest.mark.matrix
def test_shortcuts_leave_the_page_its_own_keys(host: Host) -> None:
    fields = "<input><textarea></textarea><select><option>1</select><p contenteditable>Text</p>"
    host.open(body=f"{fields}<button>Of the page</button>")
    host.page.wait_for_function("window.DocsAssistant")
    for element in host.page.locator("input, textarea, select, [contenteditable]").all():
        element.focus()
        host.page.keyboard.press("Control+i")
    composing = "new KeyboardEvent('keydown', { key: 'i', ctrlKey: true, isComposing: true, bubbles: true })"
    host.page.get_by_text("Of the page").evaluate(f"(button) => button.dispatchEvent({composing})")
    host.page.get_by_text("Of the page").focus()
    for key in ("Control+Shift+i", "Control+Alt+i", "i", "Control+Shift+O"):
        host.page.keyboard.press(key)
    host.page.evaluate("document.addEventListener('keydown', (event) => event.preventDefault())")
    host.page.keyboard.press("Control+i")
    expect(host.panel).to_have_count(0)


# Phones, zoom and what a reader's system asks for


def touch(host: Host, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw a finger over the screen."""
    session = host.page.context.new_cdp_session(host.page)
    steps = 6
    for step in range(steps + 1):
        point = {axis: a + (b - a) * step / steps for axis, a, b in zip("xy", start, end, strict=True)}
        kind = "touchMove" if step else "touchStart"
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@pytest.mark.matrix
def test_a_sheet_is_drawn_down_by_its_header_only(make_host: Callable[..., Host]) -> None:
    host = make_host(viewport=SMALL, has_touch=True, is_mobile=True).answer(START, delta("Yes."), FINISH).open()
    host.launcher.tap()
    settled(host)
    assert host.field.evaluate("(field) => getComputedStyle(field).fontSize") == "16px"
    assert host.focused() == "DIALOG"
    touch(host, (100, 300), (100, 600))
    touch(host, (100, 20), (100, 60))
    assert settled(host)["y"] == 0
    touch(host, (100, 20), (100, 300))
    expect(host.panel).to_be_hidden()
    run(host, "DocsAssistant.open()")
    assert settled(host)["y"] == 0


@pytest.mark.matrix
def test_it_can_be_used_at_four_times_its_size(make_host: Callable[..., Host]) -> None:
    host = make_host(viewport={"width": 320, "height": 256}).answer(START, delta("Yes. " * 60), FINISH).open()
    host.launcher.click()
    box = settled(host)
    assert (box["width"], box["height"]) == (320, 256)
    host.ask("Is it?")
    expect(host.answers).to_have_attribute("data-phase", "done")
    for part in (host.button("Close"), host.field, host.button("Send")):
        inner = box_of(part)
        assert 0 <= inner["x"] <= 320 - inner["width"]
        assert 0 <= inner["y"] <= 256 - inner["height"]
    log = host.panel.get_by_role("log")
    assert box_of(log)["height"] > 80
    assert log.evaluate("(log) => log.scrollWidth <= log.clientWidth")
    assert host.panel.evaluate("(panel) => panel.scrollHeight <= panel.clientHeight")


@pytest.mark.matrix
def test_in_forced_colours_there_are_borders(make_host: Callable[..., Host]) -> None:
    host = make_host(forced_colors="active").open()
    assert host.launcher.evaluate("(button) => getComputedStyle(button).borderTopColor") != "rgba(0, 0, 0, 0)"
    host.launcher.click()
    settled(host)
    assert host.panel.evaluate("(panel) => getComputedStyle(panel).borderTopStyle") == "solid"
    assert host.panel.evaluate("(panel) => getComputedStyle(panel).borderTopColor") != "rgba(0, 0, 0, 0)"


@pytest.mark.matrix
def test_nothing_moves_for_those_who_want_no_motion(make_host: Callable[..., Host]) -> None:
    host = tag(make_host(reduced_motion="reduce"), 'data-variant="modal"').open()
    assert host.launcher.evaluate("(button) => getComputedStyle(button).transitionDuration") == "0s"
    host.launcher.click()
    expect(host.panel).to_be_visible()
    host.button("Close").click()
    assert host.panel.count() == 0 or host.panel.evaluate("(panel) => panel.getAnimations().length") == 0
    expect(host.panel).to_be_hidden()


# Hostile pages

HOSTILE = """
html { font-size: 40px !important; color: red !important; }
body :is(*, *::before, *::after), docs-assistant, docs-assistant * {
    all: unset !important; display: none !important; opacity: 0 !important; visibility: hidden !important;
    transform: scale(3) !important; z-index: -1 !important; pointer-events: none !important;
    --accent: red !important; --surface: red !important; --text: red !important; --font: fantasy !important;
    --chosen-accent: red !important; --chosen-radius: 90px !important; color: red !important; width: 1px !important;
}
dialog, button, textarea, header, .panel, .launcher { display: none !important; }
"""


@pytest.fixture
def foreign() -> Iterator[Any]:
    """A site on an origin of its own: `pages` are what it answers, by path, with a policy."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content, kind, policy = self.server.pages.get(self.path, ("", "text/plain", ""))  # type: ignore[attr-defined]
            self.send_response(200 if content else 404)
            self.send_header("Content-Type", kind)
            if policy:
                self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.pages = {"/favicon.ico": (" ", "image/x-icon", "")}  # type: ignore[attr-defined]
    server.url = f"http://127.0.0.1:{server.server_port}"  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def strict(service: str, *, script: str = "", connect: str = "") -> str:
    return (
        f"default-src 'none'; script-src {script or service}; style-src 'self'; "
        f"connect-src {connect or service + ' ' + service.replace('http', 'ws', 1)}; "
        "require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'"
    )


def page_of(host: Host, policy: str) -> dict[str, tuple[str, str, str]]:
    head = f"<title>Foreign</title><link rel=stylesheet href=/hostile.css>{host.tag}"
    html = f"<!doctype html><html><head>{head}</head><body></body></html>"
    return {"/": (html, "text/html", policy), "/hostile.css": (HOSTILE, "text/css", "")}


def test_a_hostile_page_of_another_origin_cannot_spoil_it(
    make_host: Callable[..., Host], foreign: Any, project: Tenant
) -> None:
    project.project.allowed_origins = [foreign.url]
    project.project.save()
    host = make_host(tenant=project)
    wanted: list[str] = []
    host.page.on("request", lambda request: wanted.append(request.url))
    foreign.pages.update(page_of(host, strict(host.url)))
    host.page.goto(foreign.url)
    expect(host.launcher).to_have_css("opacity", "1")
    assert box_of(host.launcher)["height"] == 48
    host.ask("How do I install acme?")
    expect(host.answers).to_have_attribute("data-phase", "done")
    box = settled(host)
    assert (box["width"], box["height"]) == (400, 640)
    expect(host.panel).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(host.panel).to_have_css("font-size", "15px")
    expect(host.panel).to_have_css("border-radius", "16px")
    assert "fantasy" not in host.panel.evaluate("(panel) => getComputedStyle(panel).fontFamily")
    host.button("Close").click()
    expect(host.panel).to_be_hidden()
    assert [url for url in wanted if not url.startswith((host.url, foreign.url))] == []
    assert host.page.evaluate("violations") == []
    assert host.errors == []


@pytest.mark.parametrize("blocked", first_of(["panel", "requests"], 1))
def test_a_page_that_blocks_it_goes_on(
    make_host: Callable[..., Host], foreign: Any, project: Tenant, blocked: str
) -> None:
    project.project.allowed_origins = [foreign.url]
    project.project.save()
    host = make_host(tenant=project)
    thrown: list[str] = []
    host.page.on("pageerror", lambda error: thrown.append(str(error)))
    policy = (
        strict(host.url, script=f"{host.url}/widget.js") if blocked == "panel" else strict(host.url, connect="'none'")
    )
    foreign.pages.update(page_of(host, policy))
    host.page.goto(foreign.url)
    host.launcher.click()
    if blocked == "panel":
        expect(host.panel).to_contain_text("could not be loaded")
        host.button("Close").click()
    else:
        host.ask("Is it?")
        expect(host.answers).to_have_attribute("data-phase", "failed")
        host.button("Close").click()
    expect(host.panel).to_be_hidden()
    assert thrown == []


@pytest.mark.matrix
def test_the_page_itself_is_not_changed(host: Host) -> None:
    host.open(body="<p>Text</p>")
    expect(host.launcher).to_be_visible()
    html = "document.documentElement.outerHTML.replace(/<docs-assistant[^]*<\\/docs-assistant>/, '')"
    whole = f"[{html}, document.adoptedStyleSheets.length]"
    before = host.page.evaluate(whole)
    assert before[1] == 0
    for variant in ("widget", "panel", "modal"):
        run(host, f"DocsAssistant.update({{ variant: '{variant}' }}), DocsAssistant.open()")
        settled(host)
        assert host.page.evaluate(whole)[0] == before[0]
        run(host, "DocsAssistant.close()")
        expect(host.panel).to_be_hidden()
        assert host.page.evaluate(whole) == before
    assert host.page.locator("docs-assistant").evaluate("(widget) => widget.attributes.length") == 0


@pytest.mark.matrix
def test_an_old_browser_gets_styles_with_the_nonce(make_host: Callable[..., Host]) -> None:
    host = make_host()
    host.page.add_init_script(
        "delete Document.prototype.adoptedStyleSheets; delete ShadowRoot.prototype.adoptedStyleSheets;"
    )
    sources = f"script-src {host.url}; style-src 'nonce-n0'; connect-src {host.url}"
    tag(host, 'nonce="n0"').open(csp=f"default-src 'none'; {sources}")
    host.launcher.click()
    assert settled(host)["width"] == 400
    run(host, "DocsAssistant.update({ radius: 2, theme: 'dark' })")
    expect(host.panel).to_have_css("border-radius", "2px")
    expect(host.panel).to_have_css("background-color", "rgb(23, 24, 27)")
    assert host.page.evaluate("violations") == []


# What TypeScript knows of it

SAMPLE = """
DocsAssistant.init({ domain: "acme", key: "k", variant: "panel", hooks: { event: (name) => void name.length } });
// @ts-expect-error there is no such variant
DocsAssistant.init({ domain: "acme", key: "k", variant: "popup" });
// @ts-expect-error a variant is a word
DocsAssistant.init({ domain: "acme", key: "k", variant: 1 });
DocsAssistant.open({ context: [{ type: "code", value: "x = 1" }] });
window.DocsAssistant.ask("How?");
DocsAssistant.open({ focus: false, context: [{ type: "code", value: "x = 1", name: "app.py" }] });
DocsAssistant.update({ theme: "dark", filter: { version: "2" } });
DocsAssistant.update({ hooks: {
    event: (name, detail) => name === "answer" && console.log(detail.rung?.length, detail.ms?.toFixed()),
    error: ({ kind, status }) => console.log(kind === "panel", status.toFixed()),
} });
DocsAssistant.close(); DocsAssistant.reset(); DocsAssistant.destroy();
"""


@pytest.mark.matrix
@pytest.mark.node
def test_its_declarations_hold(tmp_path: Path) -> None:
    sample = tmp_path / "sample.ts"
    sample.write_text(SAMPLE)
    compiler = ROOT / "tests/contract/node_modules/typescript/bin/tsc"
    files = [str(ROOT / "static/widget/widget.d.ts"), str(sample)]
    command = ["node", str(compiler), "--noEmit", "--strict", "--target", "es2022", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
