"""The search dialog of the documentation site: keys, results, the click that is reported, and what goes wrong."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.conftest import ROOT, Service, Tenant, wait_for

pytestmark = pytest.mark.browser

FIND = re.compile(r"/discovery/v1/search/[^/]+$")


@pytest.fixture(scope="module")
def site(start: Any, django_db_setup: None) -> tuple[Service, Tenant]:
    """The documentation of the service itself, with a key for its dialog."""
    from docsite.projects.management.commands.createproject import create_project
    from search.ingest import ingest
    from search.sources.markdown_dir import read_folder

    domain = "search-dialog"
    project, key, admin_key = create_project(domain, "Search dialog", "https://docs.example.com", [])
    ingest(project, read_folder(ROOT / "docsite" / "pages" / "content"))
    service = start(SITE_DOMAIN=domain, SITE_ASSISTANT_KEY=key)
    return service, Tenant(project, key, admin_key, domain, project.project_id)


@pytest.fixture
def tab(browser: Browser, site: tuple[Service, Tenant]) -> Iterator[Callable[..., Page]]:
    """Open a page of the site in a tab of its own, where nothing may end up in the console."""
    contexts = []
    problems: list[str] = []

    def show(path: str = "/quickstart", *, quiet: bool = False, **options: Any) -> Page:
        contexts.append(browser.new_context(base_url=site[0].url, **options))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: message.type == "error" and not quiet and problems.append(message.text))
        page.goto(path)
        return page

    yield show
    assert problems == []
    for context in contexts:
        context.close()


def clicks(site: tuple[Service, Tenant]) -> list[tuple[str, str, int]]:
    """Clicked searches, latest first."""
    rows = site[1].project.searches.exclude(clicked_path="").order_by("-clicked_at")
    return list(rows.values_list("text", "clicked_path", "position"))


def result(path: str, content: str, **metadata: Any) -> dict[str, Any]:
    url = f"https://docs.example.com{path}#part"
    return {"path": path, "content": content, "metadata": {"title": "T", "url": url, "breadcrumb": ["T"], **metadata}}


def answer(page: Page, *results: dict[str, Any]) -> None:
    """Answer searches with these from now on."""
    page.route(FIND, lambda route: route.fulfill(json=list(results)))


@pytest.mark.parametrize("keys", ["/", "Control+k", "Meta+k"])
def test_a_key_opens_it_and_escape_closes_it(tab: Callable[..., Page], keys: str) -> None:
    page = tab()
    page.keyboard.press(keys)
    expect(page.get_by_role("dialog", name="Search the docs")).to_be_visible()
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("x/y")
    expect(page.get_by_role("combobox")).to_have_value("x/y")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Search the docs")).to_be_hidden()


def test_the_field_in_the_header_opens_it_by_click_and_by_letter(tab: Callable[..., Page]) -> None:
    page = tab()
    page.locator(".site-search input").click()
    expect(page.get_by_role("combobox")).to_be_focused()
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".site-search input")).to_be_focused()
    expect(page.get_by_role("dialog", name="Search the docs")).to_be_hidden()
    page.keyboard.type("rate limits")
    expect(page.get_by_role("combobox")).to_have_value("rate limits")
    expect(page.get_by_role("option").first).to_be_visible()


def test_results_come_while_typing_and_enter_opens_one(tab: Callable[..., Page], site: tuple[Service, Tenant]) -> None:
    page = tab()
    page.keyboard.press("/")
    field = page.get_by_role("combobox")
    field.press_sequentially("rate limits", delay=20)
    options = page.get_by_role("option")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(options.locator("mark").first).to_be_visible()
    expect(page.get_by_role("dialog").get_by_role("status")).to_have_text(re.compile(r"^\d+ results?$"))
    page.wait_for_timeout(300)
    field.press("ArrowDown")
    second = options.nth(1)
    expect(second).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", str(second.get_attribute("id")))
    field.press("ArrowUp")
    field.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    field.press("ArrowDown")
    target = str(options.first.get_attribute("href"))
    field.press("Enter")
    page.wait_for_url(re.compile(re.escape(target) + "$"))
    wait_for(lambda: clicks(site)[:1] == [("rate limits", target.partition("#")[0], 1)], 3, "the click")


def test_a_click_opens_and_is_reported_with_its_place(tab: Callable[..., Page], site: tuple[Service, Tenant]) -> None:
    page = tab()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("assistant key")
    link = page.get_by_role("option").nth(2)
    expect(link).to_be_visible()
    target = str(link.get_attribute("href"))
    link.click()
    page.wait_for_url(re.compile(re.escape(target) + "$"))
    expect(page.get_by_role("dialog", name="Search the docs")).to_be_hidden()
    wait_for(lambda: clicks(site)[:1] == [("assistant key", target.partition("#")[0], 3)], 3, "the click")


def test_a_result_opened_beside_this_page_keeps_the_dialog(tab: Callable[..., Page]) -> None:
    page = tab()
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("rate limits")
    expect(page.get_by_role("option").first).to_be_visible()
    with page.context.expect_page() as other:
        page.get_by_role("option").first.click(modifiers=["Control"])
    assert other.value.url != page.url
    expect(page.get_by_role("combobox")).to_be_visible()


def test_marks_are_those_of_the_answer_in_code_points(tab: Callable[..., Page]) -> None:
    page = tab()
    text = "😀 Rate limits <b>and</b> rates"
    answer(page, result("/a", text, highlights=[[2, 6], [4, 9], [15, 18], [90, 95], [29, 29]]), result("/b", text))
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("rate")
    first, second = page.get_by_role("option").nth(0), page.get_by_role("option").nth(1)
    expect(first.locator(".excerpt")).to_have_text(text)
    expect(first.locator("mark")).to_have_text(["Rate", text[15:18]])
    expect(second.locator("mark")).to_have_text(["Rate", "rates"])


def test_an_answer_that_comes_late_is_dropped(tab: Callable[..., Page]) -> None:
    page = tab()
    held: list[Route] = []

    def serve(route: Route) -> None:
        query = json.loads(route.request.post_data or "")["query"]
        if query == "slow":
            held.append(route)
        else:
            route.fulfill(json=[result("/quick", query)])

    page.route(FIND, serve)
    page.keyboard.press("/")
    field = page.get_by_role("combobox")
    field.fill("slow")
    wait_for(lambda: page.wait_for_timeout(20) or held, 3, "the first search")
    field.fill("quick")
    expect(page.get_by_role("option")).to_have_text(["Tquick"])
    held[0].abort()
    page.wait_for_timeout(100)
    expect(page.get_by_role("option")).to_have_text(["Tquick"])
    field.fill("")
    expect(page.get_by_role("option")).to_have_count(0)


def test_nothing_found_leads_to_the_assistant(tab: Callable[..., Page]) -> None:
    page = tab()
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("xyzzyqq plughh")
    status = page.get_by_role("dialog").get_by_role("status")
    expect(status).to_have_text(re.compile("^No results for “xyzzyqq plughh”"))
    page.get_by_role("button", name="Ask the assistant").click()
    expect(page.get_by_role("dialog", name="Search the docs")).to_be_hidden()
    expect(page.locator("docs-assistant")).to_be_attached()


@pytest.mark.parametrize(
    ("status", "headers", "says"),
    [
        (429, {"Retry-After": "7"}, "Too many searches just now. Try again in 7 seconds."),
        (503, {}, "Search does not work right now. Try again shortly."),
        (0, {}, "Search cannot be reached. Check your connection."),
    ],
)
def test_a_failure_is_told(tab: Callable[..., Page], status: int, headers: dict[str, str], says: str) -> None:
    page = tab(quiet=True)
    page.route(FIND, lambda route: route.fulfill(status=status, headers=headers) if status else route.abort())
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("install")
    expect(page.locator(".search-empty p")).to_have_text(says)
    page.unroute(FIND)
    page.get_by_role("combobox").fill("rate limits")
    expect(page.get_by_role("option").first).to_be_visible()


def test_enter_before_any_result_leads_to_the_search_page(
    tab: Callable[..., Page], site: tuple[Service, Tenant]
) -> None:
    page = tab()
    page.route(FIND, lambda route: None)
    page.keyboard.press("/")
    page.keyboard.type("scopes of keys")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=scopes+of+keys")
    link = page.locator(".results a").nth(1)
    target = str(link.get_attribute("href"))
    link.click()
    page.wait_for_url(re.compile(re.escape(target) + "$"))
    wait_for(lambda: clicks(site)[:1] == [("scopes of keys", target.partition("#")[0], 2)], 3, "the click")


def test_without_scripts_the_form_still_searches(tab: Callable[..., Page]) -> None:
    page = tab(java_script_enabled=False)
    page.locator(".site-search input").fill("rate limits")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=rate+limits")
    expect(page.locator(".results a").first).to_be_visible()


def test_it_fills_a_phone_and_nothing_sticks_out(tab: Callable[..., Page]) -> None:
    page = tab(viewport={"width": 390, "height": 780}, is_mobile=True, has_touch=True)
    page.locator(".site-search input").tap()
    page.get_by_role("combobox").fill("rate limits")
    expect(page.get_by_role("option").first).to_be_visible()
    box = page.locator(".search-dialog").bounding_box()
    assert box
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 390, 780)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    wide = (
        "[...document.querySelectorAll('.search-dialog *')].filter(e => e.getBoundingClientRect().right > 391).length"
    )
    assert page.evaluate(wide) == 0
