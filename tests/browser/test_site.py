"""The pages of the documentation site: what they weigh, how they look, and what a reader can do with them."""

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, Response, expect

from tests.browser.conftest import InTwo, box_of, violations
from tests.conftest import Service, Tenant, wait_for
from tests.variants import first_of

pytestmark = pytest.mark.browser

NOTE_SHIFTS = """
window.shifts = [];
const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" ");
const tell = ({ node, previousRect, currentRect }) =>
  `${node?.outerHTML?.slice(0, 90) ?? node?.data}: ${place(previousRect)} -> ${place(currentRect)}`;
const note = ({ value, sources }) => shifts.push([value, ...sources.map(tell)]);
new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type: "layout-shift", buffered: true });
"""
MOST_BYTES = 120_000
SELECT = """(text) => {
  const walker = document.createTreeWalker(document.querySelector(".prose"), NodeFilter.SHOW_TEXT);
  while (!walker.nextNode().data.includes(text));
  const start = walker.currentNode.data.indexOf(text);
  getSelection().setBaseAndExtent(walker.currentNode, start, walker.currentNode, start + text.length);
  walker.currentNode.parentElement.scrollIntoView({ block: "center", behavior: "instant" });
}"""
TEXT = "links in answers begin with it"


def widest(page: Page) -> bool:
    """Whether the page scrolls sideways."""
    # A phone's window grows with what is too wide for it, so its own width says nothing.
    return bool(page.evaluate("document.documentElement.scrollWidth") > page.viewport_size["width"])


def said(site: tuple[Service, Tenant], **about: Any) -> list[tuple[Any, ...]]:
    rows = site[1].project.feedback.filter(**about)
    return list(rows.values_list("source", "path", "helpful", "reason", "comment", "contact"))


@pytest.mark.matrix
def test_a_page_is_light_holds_still_and_has_nothing_inline(tab: Callable[..., Page]) -> None:
    page = tab("about:blank", viewport={"width": 1400, "height": 900})
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    page.add_init_script(NOTE_SHIFTS)
    page.goto("/quickstart")
    expect(page.locator(".code").first.get_by_role("button", name="Ask")).to_be_visible()
    page.wait_for_load_state("networkidle")
    own = {answer.url: len(answer.body()) for answer in answers if "/widget" not in answer.url}
    assert len(own) > 5
    assert sum(own.values()) < MOST_BYTES, own
    assert page.evaluate("shifts") == []
    assert page.locator("script:not([src], [type$='json']), style, [style], [onclick]").count() == 0


@pytest.mark.matrix
@pytest.mark.parametrize(("path", "filled"), [("/playground", ".said:text('answers')"), ("/gallery", "#state-hostile")])
def test_what_scripts_fill_moves_nothing_below_it(tab: Callable[..., Page], path: str, filled: str) -> None:
    page = tab("about:blank", viewport={"width": 1280, "height": 800})
    page.add_init_script(NOTE_SHIFTS)
    page.goto(path)
    expect(page.locator(filled)).to_be_visible()
    page.evaluate("new Promise(requestAnimationFrame)")
    assert sum(value for value, *_ in page.evaluate("shifts")) < 0.01


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("path", "cut"),
    [
        ("/quickstart", "data-theme-toggle"),
        ("/quickstart", "<summary>Page menu"),
        ("/quickstart", "Page menu</summary>"),
        ("/playground", '<form class="project"'),
        ("/gallery", '<section class="gallery"'),
    ],
)
def test_the_rest_of_a_page_moves_nothing_before_it(
    browser: Browser, site: tuple[Service, Tenant], in_two: InTwo, path: str, cut: str
) -> None:
    html = httpx.get(site[0].url + path).text.replace('="/', f'="{site[0].url}/')
    url, go_on = in_two(*html.partition(cut))
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.add_init_script(NOTE_SHIFTS)
    page.goto(url, wait_until="commit")
    page.wait_for_function("document.styleSheets.length", polling=50)
    page.wait_for_timeout(300)  # to be painted, where it may be
    go_on.set()
    page.wait_for_load_state()
    page.evaluate("new Promise(requestAnimationFrame)")
    assert page.evaluate("shifts") == []
    page.close()


@pytest.mark.matrix
def test_a_german_page_speaks_german(tab: Callable[..., Page]) -> None:
    page = tab("/de/quickstart")
    for name in ("Dokumentation durchsuchen", "Seitenmenü", "Kopieren", "War diese Seite hilfreich?"):
        expect(page.get_by_label(name, exact=True).or_(page.get_by_text(name, exact=True)).first).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("rate limits")
    expect(page.get_by_role("dialog").get_by_role("status")).to_have_text(re.compile(r"^\d+ Seiten$"))
    expect(page.locator(".ask-row")).to_have_attribute("href", "/ask?q=rate+limits&path=%2Fde%2Fquickstart&language=de")
    page.keyboard.press("Escape")
    page.wait_for_function("document.activeElement === document.body")  # no key is for the dialog any longer
    expect(page.locator("docs-assistant .launcher")).to_have_text("Fragen")
    page.keyboard.press("Control+i")
    chat = page.get_by_role("dialog", name="Fragen stellen")
    expect(chat.get_by_role("textbox", name="Ihre Frage")).to_be_focused()
    expect(chat.get_by_text("Was suchen Sie?")).to_be_visible()
    expect(chat.get_by_role("button", name="Wie starte ich die Demo?")).to_be_visible()


@pytest.mark.matrix
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(tab: Callable[..., Page], scheme: Any) -> None:
    page = tab(color_scheme=scheme, reduced_motion="reduce", viewport={"width": 1400, "height": 900})
    page.locator(".page-menu summary").click()
    page.get_by_role("group", name="Was this page helpful?").get_by_role("button", name="No").click()
    expect(page.get_by_role("group", name="What was wrong?")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Control+k")
    page.keyboard.type("rate limits")
    expect(page.locator(".page-row").first).to_be_visible()
    assert violations(page) == []
    for path in (
        "/search?q=rate+limits",
        "/search?q=xyzzy",
        "/ask",
        "/playground",
        "/coding-agents",
        "/",
    ):
        page.goto(path)
        assert violations(page) == [], path
    page.get_by_role("button", name="Ask the docs").click()
    expect(page.get_by_label("Your question")).to_be_visible()
    assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert violations(page) == []


@pytest.mark.matrix
@pytest.mark.parametrize("width", first_of([390, 320], 1))
def test_a_phone_shows_all_of_it(tab: Callable[..., Page], width: int) -> None:
    page = tab(viewport={"width": width, "height": 640}, is_mobile=True, has_touch=True)
    assert not widest(page)
    page.locator(".page-menu summary").tap()
    expect(page.get_by_role("link", name="View as Markdown")).to_be_in_viewport(ratio=1)
    assert not widest(page)
    page.locator("body > .menu > summary").tap()
    expect(page.get_by_role("link", name="Deutsch")).to_be_visible()
    page.locator("body > .menu > summary").tap()
    page.get_by_role("group", name="Was this page helpful?").get_by_role("button", name="No").tap()
    assert not widest(page)
    page.evaluate(SELECT, TEXT)
    bar = page.get_by_role("toolbar", name="Selected text")
    expect(bar).to_be_in_viewport(ratio=1)
    line = page.evaluate("getSelection().getRangeAt(0).getBoundingClientRect().bottom")
    assert box_of(bar)["y"] > line, "the system's own menu stands above"
    assert not widest(page)


@pytest.mark.matrix
def test_print_has_the_article_alone(tab: Callable[..., Page]) -> None:
    page = tab("/embed")
    page.emulate_media(media="print")
    expect(page.locator("h1")).to_be_visible()
    for away in ("header.site-header", ".sidebar", ".page-menu", ".copy", "form", ".pager", "docs-assistant button"):
        expect(page.locator(away).first).to_be_hidden()


@pytest.mark.matrix
def test_a_selection_can_be_asked_about_copied_and_linked_to(tab: Callable[..., Page]) -> None:
    page = tab(permissions=["clipboard-read", "clipboard-write"])
    bar = page.get_by_role("toolbar", name="Selected text")
    expect(page.locator(".code").first.get_by_role("button", name="Ask")).to_be_visible()
    page.evaluate(SELECT, "links in")
    page.wait_for_timeout(300)
    expect(bar).to_be_hidden()
    page.evaluate(SELECT, TEXT[2:-2])
    expect(bar).to_be_visible()
    page.keyboard.press("Control+j")
    expect(bar.get_by_role("button", name="Ask")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(bar.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.endswith("/quickstart#:~:text=" + TEXT.replace(" ", "%20")), "browsers look for whole words"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    wait_for(lambda: page.evaluate("navigator.clipboard.readText()") == TEXT[2:-2], "the text")
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    page.keyboard.press("Control+j")
    page.keyboard.press("Enter")
    chip = page.get_by_role("dialog", name="Ask the docs").get_by_text("“nks in answers").first
    expect(chip).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("docs-assistant .launcher")).to_be_focused()
    page.goto("/embed")
    page.keyboard.press("Control+i")
    expect(page.get_by_role("dialog", name="Ask the docs").get_by_role("textbox")).to_be_focused()
    expect(chip).to_have_count(0)
    page.keyboard.press("Escape")
    page.goto("/quickstart")
    expect(page.locator(".code").first.get_by_role("button", name="Ask")).to_be_visible()
    page.evaluate("Object.defineProperty(window, 'DocsAssistant', { value: { open: (how) => (window.opened = how) } })")
    page.locator(".code", has_text="assistant_key  svc").get_by_role("button", name="Ask").click()
    (code,) = page.evaluate("opened.context")
    assert (code["type"], code["name"], code["path"]) == ("code", "text", "/quickstart")
    assert code["elementId"] == "your-own-project"
    page.evaluate(SELECT, TEXT)
    page.keyboard.press("Control+j")
    page.keyboard.press("Enter")
    context = {"type": "textSelection", "value": TEXT, "path": "/quickstart", "elementId": "your-own-project"}
    assert page.evaluate("opened.context") == [context]


@pytest.mark.matrix
def test_a_page_is_rated_step_by_step_and_taken_back(tab: Callable[..., Page], site: tuple[Service, Tenant]) -> None:
    page = tab("/streaming", quiet=True)
    form = page.locator("form[data-feedback]")
    status = form.get_by_role("status")
    form.get_by_role("button", name="No").click()
    expect(status).to_have_text("Thank you.")
    assert said(site, path="/streaming") == [("thumbs_only", "/streaming", False, "", "", "")]
    form.get_by_text("Out of date").click()
    wait_for(lambda: said(site, path="/streaming", reason="Out of date"), "the reason")
    form.get_by_label("Anything to add?").fill("No word on sockets.")
    form.get_by_label("e-mail").fill("me@acme.example")
    form.get_by_role("button", name="Send").click()
    expect(form.get_by_role("button", name="Undo")).to_be_focused()
    row = ("contextual", "/streaming", False, "Out of date", "No word on sockets.", "me@acme.example")
    wait_for(lambda: said(site, path="/streaming") == [row], "all of it in one row")
    page.keyboard.press("Enter")
    expect(status).to_have_text("Taken back.")
    expect(form.get_by_role("button", name="Yes")).to_be_focused()
    assert said(site, path="/streaming") == []
    thumb = page.locator(".code").first.get_by_role("button", name="This code helped")
    thumb.click()
    wait_for(lambda: said(site, path="/streaming", source="code_snippet", helpful=True), "the thumb")
    assert site[1].project.feedback.get(path="/streaming").lang == page.locator(".code-bar span").first.inner_text()
    thumb.click()
    wait_for(lambda: not said(site, path="/streaming"), "it to be taken back")
    page.route("**/discovery/v1/feedback/**", lambda route: route.fulfill(status=429, headers={"Retry-After": "9"}))
    form.get_by_role("button", name="Yes").click()
    expect(status).to_have_text("That was too much at once. Try again in 9 seconds.")
    expect(form.get_by_role("button", name="Yes")).to_have_attribute("aria-pressed", "false")
    expect(form.get_by_role("button", name="Undo")).to_be_hidden()
    thumb.click()
    expect(page.locator(".code-wrong").first).to_have_text("That was too much at once. Try again in 9 seconds.")
    expect(thumb).to_have_attribute("aria-pressed", "false")
    page.unroute("**/discovery/v1/feedback/**")
    form.get_by_role("button", name="Yes").click()
    expect(form.get_by_role("button", name="Undo")).to_be_visible()
    form.get_by_label("Anything to add?").fill("Clear.")
    page.route("**/discovery/v1/feedback/**", lambda route: route.abort())
    form.get_by_role("button", name="Send").click()
    expect(status).to_have_text("This could not be sent. Check your connection.")
    expect(form.get_by_label("Anything to add?")).to_have_value("Clear.")
    expect(form.get_by_label("Anything to add?")).to_be_visible()
    expect(form.get_by_role("button", name="Yes")).to_have_attribute("aria-pressed", "true")


@pytest.mark.matrix
def test_without_scripts_a_page_is_rated_by_forms(tab: Callable[..., Page], site: tuple[Service, Tenant]) -> None:
    page = tab("/privacy", java_script_enabled=False)
    page.locator(".page-menu summary").click()
    expect(page.get_by_role("link", name="Open in Claude")).to_be_visible()
    expect(page.get_by_text("Copy page as Markdown")).to_be_hidden()
    page.get_by_role("button", name="No", exact=True).click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    page.get_by_text("Hard to follow").click()
    page.get_by_label("Anything to add?").fill("Long.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("It reaches the people who write these pages.")).to_be_visible()
    assert said(site, path="/privacy") == [("contextual", "/privacy", False, "Hard to follow", "Long.", "")]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="Taken back")).to_be_visible()
    assert said(site, path="/privacy") == []
    page.get_by_role("link", name="Back to the page").click()
    page.wait_for_url("**/privacy")


@pytest.mark.matrix
def test_the_page_menu_copies_asks_and_closes(tab: Callable[..., Page], site: tuple[Service, Tenant]) -> None:
    page = tab(permissions=["clipboard-read", "clipboard-write"])
    menu = page.locator(".page-menu")
    menu.locator("summary").press("Enter")
    menu.get_by_role("button", name="Copy page as Markdown").click()
    expect(menu.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("# Quickstart")
    menu.get_by_role("button", name="Copy command for Claude Code").click()
    service, tenant = site
    command = f"claude mcp add --transport http {tenant.domain}-docs {service.url}/mcp/{tenant.domain}"
    page.wait_for_function("text => navigator.clipboard.readText().then((copied) => copied === text)", arg=command)
    prompt = str(menu.get_by_role("link", name="Open in Claude").get_attribute("href"))
    assert "127.0.0.1" in prompt
    assert prompt.count("%2Fquickstart.md") == 1
    page.keyboard.press("Escape")
    expect(menu.locator("summary")).to_be_focused()
    expect(menu.get_by_role("link", name="llms.txt")).to_be_hidden()
    expect(page.locator(".code").first.get_by_role("button", name="Ask")).to_be_visible()
    menu.locator("summary").press("Enter")
    menu.get_by_role("link", name="Ask about this page").click()
    expect(page.get_by_role("dialog", name="Ask the docs")).to_be_visible()
    assert page.url == f"{site[0].url}/quickstart"


@pytest.mark.matrix
def test_further_quotes_fold_on_ask_but_not_without_scripts(tab: Callable[..., Page]) -> None:
    for scripts in (True, False):
        page = tab("/ask?q=How+do+I+revoke+an+API+key", java_script_enabled=scripts)
        page.get_by_role("button", name="Ask", exact=True).click()
        folded = page.locator(".answer .prose details")
        if not scripts:
            expect(page.locator(".answer .prose > p > strong:only-child").nth(1)).to_be_visible()
            expect(folded).to_have_count(0)
            return
        expect(folded.first.locator("summary span")).to_be_visible()
        expect(folded.first.locator("summary ~ *").first).to_be_hidden()
        folded.first.locator("summary").focus()
        page.keyboard.press("Enter")
        expect(folded.first.locator("summary ~ *").first).to_be_visible()


@pytest.mark.matrix
def test_there_is_one_way_to_ask_on_a_page(tab: Callable[..., Page], site: tuple[Service, Tenant]) -> None:
    page = tab("/quickstart")
    expect(page.locator("docs-assistant .launcher")).to_be_visible()
    expect(page.locator(".ask-button")).to_be_hidden()
    page.goto("/ask")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_have_count(1)
    expect(page.locator("docs-assistant, .ask-button")).to_have_count(0)
    page.route("**/discovery/v1/widget/*", lambda route: route.fulfill(json={"enabled": False, "reason": "It is off."}))
    page.goto("/quickstart")
    expect(page.locator(".ask-button")).to_be_visible()
    expect(page.locator("docs-assistant .launcher")).to_be_hidden()
    page.locator(".ask-button").click()
    expect(page).to_have_url(f"{site[0].url}/ask")


@pytest.mark.matrix
def test_thumbs_on_code_wait_for_the_pointer_or_the_keyboard(tab: Callable[..., Page]) -> None:
    page = tab("/quickstart")
    block = page.locator(".code").first
    thumb = block.get_by_role("button", name="This code helped")
    expect(thumb).to_have_css("opacity", "0")
    block.hover()
    expect(thumb).to_have_css("opacity", "1")
    page.mouse.move(0, 0)
    expect(thumb).to_have_css("opacity", "0")
    thumb.focus()
    expect(thumb).to_have_css("opacity", "1")


@pytest.mark.matrix
def test_the_tag_for_several_tools_is_in_tabs(tab: Callable[..., Page]) -> None:
    page = tab("/quickstart")
    expect(page.get_by_role("tab")).to_have_text(["Plain HTML", "Docusaurus", "MkDocs", "Sphinx"])
    shown = page.get_by_role("tabpanel")
    expect(shown).to_have_count(1)
    page.get_by_role("tab", name="Docusaurus").click()
    expect(shown).to_contain_text("docusaurus.config.js")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tab", name="Sphinx")).to_be_focused()
    expect(shown).to_contain_text("html_js_files")


@pytest.mark.matrix
def test_an_address_opens_search_or_the_assistant_once(tab: Callable[..., Page], site: tuple[Service, Tenant]) -> None:
    page = tab("/quickstart?search=rate+limits&x=1#serve")
    expect(page.get_by_role("combobox")).to_have_value("rate limits")
    expect(page.locator(".page-row").first).to_have_attribute("aria-selected", "true")
    assert page.url == f"{site[0].url}/quickstart?x=1#serve"
    asked: list[str] = []
    page.on("websocket", lambda socket: asked.append(socket.url))
    chat = page.get_by_role("dialog", name="Ask the docs")
    page.goto("/quickstart?assistant")
    expect(chat).to_be_visible()
    page.goto("/quickstart?assistant=What+counts+as+a+view", referer="https://elsewhere.example/")
    expect(page.get_by_role("option").first).to_have_text("Ask: What counts as a view")
    expect(page.locator(".page-row").first).to_be_visible()
    expect(page.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    assert page.url == f"{site[0].url}/quickstart"
    assert asked == [], "a link of another site asks nothing"
    page.goto("/quickstart?assistant=What+counts+as+a+view", referer=f"{site[0].url}/embed")
    expect(chat.get_by_role("article").first).to_contain_text("What counts as a view")
    expect(page.locator(".search-dialog")).to_be_hidden()
