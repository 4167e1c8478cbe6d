"""The playground: any project's widget, search and streams on one page."""

import json
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import OPEN_ROOTS, SharedHostTab, violations
from tests.browser.test_widget import PHONE
from tests.conftest import Tenant

pytestmark = pytest.mark.browser

# An answer of 5,000 parts that comes in ten frames.
IN_TEN_FRAMES = """() => {
  const part = (number) => `0:"${number} "\\n`;
  const start = async (stream) => {
    for (let frame = 0; frame < 10; frame++) {
      const parts = Array.from({ length: 500 }, (_, place) => part(frame * 500 + place));
      stream.enqueue(new TextEncoder().encode(parts.join("")));
      await new Promise(requestAnimationFrame);
    }
    stream.close();
  };
  window.fetch = async () => new Response(new ReadableStream({ start }), { headers: { "Content-Type": "text/plain" } });
}"""
# Keeps what comes over the wire.
HEARD = """() => {
  const real = window.fetch;
  window.fetch = async (...given) => {
    const response = await real(...given);
    if (String(given[0]).endsWith("/message")) window.heard = response.clone().text();
    return response;
  };
}"""
FORMATS = {"v2": "text/event-stream", "v1": "text/plain"}


@pytest.fixture
def playground(
    browser: Browser, service: Any, reading_project: Tenant, shared_host_tab: SharedHostTab
) -> Iterator[Callable[..., Page]]:
    """Open the playground with the project in its address; every problem in the console fails the test."""
    contexts, problems = [], []

    def show(domain: str = reading_project.domain, key: str = reading_project.assistant_key, **options: Any) -> Page:
        if options:
            contexts.append(browser.new_context(reduced_motion="reduce", **options))
            contexts[-1].add_init_script(OPEN_ROOTS)
            page = contexts[-1].new_page()
        else:
            page = shared_host_tab.reset()
            page.emulate_media(reduced_motion="reduce")
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(f"{service.url}/playground#domain={domain}&key={key}")
        return page

    yield show
    assert problems == []
    for context in contexts:
        context.close()


def launcher(page: Page) -> Any:
    return page.locator("docs-assistant .launcher")


def said(page: Page, form: str) -> Any:
    return page.locator(f"form.{form} + .said, form.{form} .said").first


@pytest.mark.matrix
def test_the_widget_follows_the_form_and_the_tag_says_how(
    playground: Callable[..., Page], reading_project: Tenant, service: Any
) -> None:
    page = playground()
    expect(said(page, "project")).to_contain_text("answers")
    expect(launcher(page)).to_be_visible()
    tag = page.locator("[data-tag] code")
    assert "data-variant" not in tag.inner_text()
    page.get_by_label("Variant").select_option("modal")
    page.get_by_label("Side").select_option("start")
    page.get_by_label("Logo").fill("/static/site/img/icon.svg")
    page.get_by_text("Words, questions").click()
    page.get_by_label("Launcher").fill('"Ask" <b>us</b> & co')
    page.get_by_label("z-index").fill("7")
    page.get_by_label("Search only version").fill('2"')
    expect(launcher(page)).to_contain_text('"Ask" <b>us</b> & co')
    attributes = page.evaluate(
        "(tag) => ({ ...new DOMParser().parseFromString(tag, 'text/html').querySelector('script').dataset })",
        tag.inner_text(),
    )
    assert attributes == {
        **{"domain": reading_project.domain, "key": reading_project.assistant_key},
        **{"variant": "modal", "side": "start", "zIndex": "7", "version": '2"'},
        "logo": f"{service.url}/static/site/img/icon.svg",
    }
    expect(page.locator("[data-no-attribute]")).to_be_visible()
    page.get_by_role("button", name="Open the widget").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear").click()
    expect(launcher(page)).to_have_text("Ask")
    assert "data-variant" not in tag.inner_text()


@pytest.mark.matrix
def test_the_call_starts_the_same_widget_whatever_is_in_its_words(playground: Callable[..., Page]) -> None:
    page = playground()
    page.get_by_text("Words, questions").click()
    page.get_by_label("Greeting").fill("</script><script>alert(1)</script>")
    page.get_by_label("Starter questions").fill("One?\n\nTwo?\nThree?\nFour?")
    page.get_by_text("From your own code", exact=True).click()
    page.wait_for_function("document.querySelector('[data-init] code').textContent.includes('Three')")
    scripts = page.evaluate(
        """(code) => Array.from(new DOMParser().parseFromString(code, "text/html").scripts, (script) => script.text)""",
        page.locator("[data-init] code").inner_text(),
    )
    assert len(scripts) == 2
    given = json.loads(re.search(r"init\((.+)\)\)", scripts[1], re.DOTALL)[1])
    assert given["labels"] == {"greeting": "</script><script>alert(1)</script>"}
    assert given["starterQuestions"] == ["One?", "Two?", "Three?"]


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("domain", "key", "says"),
    [
        (None, "svc_dsc_wrong", "manage createkey"),
        ("nobody", None, "There is no project “nobody”"),
        (None, "admin", "An assistant key begins with"),
        (None, "other", "belongs to another project"),
        ("", "", "Enter the domain"),
    ],
)
def test_it_says_what_to_do(
    playground: Callable[..., Page],
    reading_project: Tenant,
    make_project: Any,
    domain: str | None,
    key: str | None,
    says: str,
) -> None:
    keys = {None: reading_project.assistant_key, "admin": reading_project.admin_key}
    key = make_project().assistant_key if key == "other" else keys.get(key, key)
    page = playground(reading_project.domain if domain is None else domain, key)
    expect(said(page, "project")).to_contain_text(says)
    expect(page.locator("docs-assistant")).to_have_count(0)
    expect(page.get_by_role("button", name="Open the widget")).to_be_disabled()


@pytest.mark.matrix
def test_a_wrong_value_is_told_and_left_out(playground: Callable[..., Page]) -> None:
    page = playground()
    page.get_by_label("Accent").fill("no colour")
    page.get_by_label("Radius").fill("99")
    expect(page.locator("form.options .said")).to_contain_text("not a colour of CSS. radius:")
    assert "data-accent" not in page.locator("[data-tag] code").inner_text()


@pytest.mark.matrix
def test_search_shows_pages_with_scores_and_marks(playground: Callable[..., Page], make_project: Any) -> None:
    page = playground()
    field = page.get_by_label("Words to search the project")
    field.fill("install acme with pip")
    field.press("Enter")
    first = page.locator(".found li").first
    expect(first.locator("a")).to_have_attribute("href", re.compile(r"^https://docs\.acme\.example/install"))
    expect(first.locator(".result-title")).to_contain_text("Installing acme")
    expect(first.locator(".score")).to_have_text(re.compile(r"^[01]\.\d\d$"))
    expect(first.locator("mark").first).to_be_visible()
    empty = make_project()
    page.get_by_label("Domain").fill(empty.domain)
    page.get_by_label("Assistant key").fill(empty.assistant_key)
    field.press("Enter")
    expect(said(page, "search-form")).to_contain_text(f"manage ingest {empty.domain}")
    expect(page.locator(".found li")).to_have_count(0)


@pytest.mark.matrix
@pytest.mark.parametrize("version", FORMATS)
def test_the_inspector_shows_the_stream_as_it_is(
    playground: Callable[..., Page], http: httpx.Client, version: str
) -> None:
    page = playground()
    page.get_by_role("textbox", name="Question", exact=True).fill("What's the command to install acme with <pip>?")
    page.get_by_label("Format").select_option(version)
    page.evaluate(HEARD)
    page.locator("form.inspect").get_by_role("button", name="Ask").click()
    expect(said(page, "inspect")).to_contain_text(f"Status 200, {FORMATS[version]}")
    raw = page.evaluate("heard")
    whole = raw.count("\n") if version == "v1" else raw.count("\n\n")
    rows = page.locator(".parts li")
    expect(rows).to_have_count(whole)
    expect(said(page, "inspect")).to_contain_text(f"{len(raw.encode()):,} bytes")
    expect(page.locator(".grown")).to_contain_text("pip install acme")
    expect(page.locator(".grown a").first).to_have_attribute("href", re.compile("^https://docs.acme.example/install"))
    expect(page.locator(".panes .sources")).to_contain_text("Installing acme")
    rows.first.locator("summary").click()
    assert json.loads(rows.first.locator("pre").inner_text()).get("messageId")
    page.get_by_text("The same request with curl").click()
    _, _, url, *rest = [word for word in shlex.split(page.locator("[data-curl] code").inner_text()) if word != "\n"]
    headers = dict(word.split(": ", 1) for word in rest if ": " in word and not word.startswith("{"))
    again = http.post(url, content=rest[-1].encode(), headers=headers)
    assert again.status_code == 200
    assert again.headers["content-type"].startswith(FORMATS[version])


@pytest.mark.matrix
def test_the_inspector_shows_an_error_with_its_status_and_body(playground: Callable[..., Page]) -> None:
    page = playground(key="svc_dsc_wrong")
    page.locator("form.inspect").get_by_role("button", name="Ask").click()
    expect(said(page, "inspect")).to_contain_text("Status 401")
    expect(page.locator(".parts li")).to_contain_text('{"error": "Unknown')


@pytest.mark.matrix
def test_thousands_of_parts_leave_the_page_small(playground: Callable[..., Page]) -> None:
    page = playground()
    page.evaluate(IN_TEN_FRAMES)
    page.get_by_label("Format").select_option("v1")
    page.locator("form.inspect").get_by_role("button", name="Ask").click()
    expect(said(page, "inspect")).to_contain_text("5000 parts")
    assert page.locator(".parts li").count() == 300
    expect(page.locator("[data-cut]")).to_have_text("4700 earlier parts are not shown. “Copy all” has them.")
    expect(page.locator(".grown")).to_contain_text("4998 4999")


@pytest.mark.matrix
def test_a_running_answer_can_be_stopped(playground: Callable[..., Page]) -> None:
    page = playground()
    page.route("**/message", lambda route: None)  # it is never answered
    page.locator("form.inspect").get_by_role("button", name="Ask").click()
    page.get_by_role("button", name="Stop").click()
    expect(said(page, "inspect")).to_contain_text("Stopped")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


@pytest.mark.matrix
@pytest.mark.parametrize("options", [{"viewport": PHONE}, {"color_scheme": "dark"}], ids=["phone", "dark"])
def test_axe_finds_nothing(playground: Callable[..., Page], options: dict[str, Any]) -> None:
    page = playground(**options)
    page.locator("form.inspect").get_by_role("button", name="Ask").click()
    expect(said(page, "inspect")).to_contain_text("Status 200")
    field = page.get_by_label("Words to search the project")
    field.fill("install")
    field.press("Enter")
    expect(page.locator(".found li").first).to_be_visible()
    assert violations(page, ".playground") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.matrix
def test_without_javascript_it_says_so(browser: Browser, service: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{service.url}/playground")
    expect(page.locator("noscript .notice")).to_be_visible()
    assert "needs JavaScript" in page.locator("noscript .notice").inner_text()
    expect(page.locator("form.options")).to_be_hidden()
    context.close()
