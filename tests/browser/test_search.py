"""The search dialog of the documentation site: keys, results, the click that is reported, and what goes wrong."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import box_of
from tests.conftest import Service, Tenant, wait_for

pytestmark = pytest.mark.browser

FIND = re.compile(r"/discovery/v1/search/[^/]+$")
PREVIEW = re.compile(r"/discovery/v1/assistant/[^/]+/preview$")


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


@pytest.mark.matrix
def test_a_key_opens_it_and_escape_closes_it(tab: Callable[..., Page]) -> None:
    page = tab()
    for keys in ("/", "Control+k", "Meta+k"):
        page.keyboard.press(keys)
        expect(page.get_by_role("dialog", name="Search the docs")).to_be_visible()
        expect(page.get_by_role("combobox")).to_be_focused()
        page.get_by_role("combobox").fill("")
        page.keyboard.type("x/y")
        expect(page.get_by_role("combobox")).to_have_value("x/y")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog", name="Search the docs")).to_be_hidden()


@pytest.mark.matrix
def test_a_key_opens_it_again_before_the_closed_field_has_lost_the_focus(tab: Callable[..., Page]) -> None:
    page = tab()
    for key in ({"key": "/"}, {"key": "k", "ctrlKey": True}):
        page.keyboard.press("/")
        expect(page.get_by_role("combobox")).to_have_attribute("aria-expanded", "true")  # its script is there
        focused, opened = page.evaluate(
            """(key) => {
                const dialog = document.querySelector(".search-dialog");
                dialog.close();
                const focused = document.activeElement.name;
                document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, ...key }));
                return [focused, dialog.open];
            }""",
            key,
        )
        assert (focused, opened) == ("q", True)
        page.keyboard.press("Escape")


@pytest.mark.matrix
def test_the_field_in_the_header_opens_it_by_click_and_by_letter(tab: Callable[..., Page]) -> None:
    page = tab()
    page.get_by_role("searchbox").click()
    expect(page.get_by_role("combobox")).to_be_focused()
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("searchbox")).to_be_focused()
    expect(page.get_by_role("dialog", name="Search the docs")).to_be_hidden()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("rate limits")
    expect(page.get_by_role("combobox")).to_have_value("rate limits")
    expect(page.get_by_role("option").first).to_be_visible()


def test_results_come_while_typing_and_enter_opens_one(tab: Callable[..., Page], site: tuple[Service, Tenant]) -> None:
    page = tab()
    page.keyboard.press("/")
    field = page.get_by_role("combobox")
    field.press_sequentially("rate limits", delay=20)
    options = page.get_by_role("option")
    # While it is busy the results of fewer letters may still be replaced, and with them what is chosen.
    expect(page.get_by_role("dialog").locator("form")).to_have_attribute("aria-busy", "false")
    expect(options.locator("mark").first).to_be_visible()
    expect(page.get_by_role("dialog").get_by_role("status")).to_have_text(re.compile(r"^\d+ pages$"))
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(options.nth(0)).to_contain_text("Ask: rate limits")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    keys = {"ArrowDown": 2, "Home": 0, "ArrowUp": -1, "End": -1}
    for key, place in keys.items():
        field.press(key)
        expect(options.nth(place)).to_have_attribute("aria-selected", "true")
        expect(field).to_have_attribute("aria-activedescendant", str(options.nth(place).get_attribute("id")))
    field.press("Home")
    field.press("ArrowDown")
    target = str(options.nth(1).get_attribute("href"))
    field.press("Enter")
    page.wait_for_url(re.compile(re.escape(target) + "$"))
    wait_for(lambda: clicks(site)[:1] == [("rate limits", target.partition("#")[0], 1)], "the click")


@pytest.mark.matrix
def test_the_sentence_that_answers_stands_below_ask_and_moves_no_row(tab: Callable[..., Page]) -> None:
    """It is asked for once typing has paused, and only for words that may be a question. Its markup is text."""
    page = tab(quiet=True)
    asked: list[str] = []
    held: list[Route] = []

    def hold(route: Route) -> None:
        asked.append(route.request.post_data_json["question"])
        held.append(route)

    def wait_for_preview(number: int) -> None:
        while len(held) < number:  # its route is handled while the page waits
            page.wait_for_timeout(20)

    answer(page, *(result(f"/{number}", "One more page.") for number in range(8)))
    page.route(PREVIEW, hold)
    page.keyboard.press("/")
    field, row = page.get_by_role("combobox"), page.locator(".ask-row")
    field.press_sequentially("How do I install acme now", delay=20)
    wait_for_preview(1)
    assert asked == ["How do I install acme now"]
    rows = [box_of(option) for option in page.get_by_role("option").all()]
    held[0].fulfill(json={"sentence": "Run <img src=x onerror=alert(1)> now.", "title": "Install", "url": "/x"})
    expect(row.locator(".answer")).to_have_text("Install Run <img src=x onerror=alert(1)> now.")
    expect(row).to_have_accessible_description("Install Run <img src=x onerror=alert(1)> now.")
    expect(row).to_have_accessible_name("Ask: How do I install acme now")
    assert [box_of(option) for option in page.get_by_role("option").all()] == rows
    field.press("Home")
    expect(row).to_have_attribute("aria-selected", "true")
    field.fill("install")  # one word asks nothing
    expect(row).to_have_text("Ask: install")
    expect(page.get_by_role("dialog").locator("form")).to_have_attribute("aria-busy", "false")
    field.fill("install acme")
    wait_for_preview(2)
    with page.expect_response(PREVIEW):
        held[1].fulfill(status=429, json={"error": "Too many requests."})
    expect(row).to_have_text("Ask: install acme")
    assert asked[1:] == ["install acme"]


@pytest.mark.matrix
def test_a_click_opens_and_is_reported_with_its_place(tab: Callable[..., Page], site: tuple[Service, Tenant]) -> None:
    page = tab()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("assistant key")
    link = page.locator(".page-row").nth(2)
    expect(link).to_be_visible()
    target = str(link.get_attribute("href"))
    link.click()
    page.wait_for_url(re.compile(re.escape(target) + "$"))
    expect(page.get_by_role("dialog", name="Search the docs")).to_be_hidden()
    wait_for(lambda: clicks(site)[:1] == [("assistant key", target.partition("#")[0], 3)], "the click")


@pytest.mark.matrix
def test_a_result_opened_beside_this_page_keeps_the_dialog(tab: Callable[..., Page]) -> None:
    page = tab()
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("rate limits")
    expect(page.locator(".page-row").first).to_be_visible()
    with page.context.expect_page() as other:
        page.get_by_role("combobox").press("Control+Enter")
    assert other.value.url != page.url
    expect(page.get_by_role("combobox")).to_be_visible()


@pytest.mark.matrix
def test_marks_are_those_of_the_answer_in_code_points(tab: Callable[..., Page]) -> None:
    page = tab()
    text = "😀 Rate limits <b>and</b> rates"
    answer(page, result("/a", text, highlights=[[2, 6], [4, 9], [15, 18], [90, 95], [29, 29]]), result("/b", text))
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("rate")
    first, second = page.get_by_role("option").nth(1), page.get_by_role("option").nth(2)
    expect(first.locator(".excerpt")).to_have_text(text)
    expect(first.locator("mark")).to_have_text(["Rate", text[15:18]])
    expect(second.locator("mark")).to_have_text(["Rate", "rates"])


@pytest.mark.matrix
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
    wait_for(lambda: page.wait_for_timeout(20) or held, "the first search")
    field.fill("quick")
    expect(page.get_by_role("option")).to_have_text(["Ask: quick", "Tquick"])
    held[0].abort()
    page.wait_for_timeout(100)
    expect(page.get_by_role("option")).to_have_text(["Ask: quick", "Tquick"])
    field.fill("")
    expect(page.get_by_role("group", name="Start here")).to_be_visible()


@pytest.mark.matrix
def test_nonsense_has_no_near_pages(tab: Callable[..., Page]) -> None:
    page = tab()
    answer(page)
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("pizza margherita recipe")
    expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("No results")
    expect(page.get_by_role("option")).to_have_count(1)
    expect(page.get_by_role("option")).to_contain_text("Ask:")


@pytest.mark.matrix
def test_the_dialog_is_as_high_as_its_rows_and_its_field_stays(tab: Callable[..., Page]) -> None:
    page = tab()
    answer(page)
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("pizza")
    expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("No results")
    low = box_of(page.locator(".search-dialog"))
    answer(page, *(result(f"/{number}", "wonderful " * 30) for number in range(10)))
    page.get_by_role("combobox").fill("wonderful")
    expect(page.locator(".page-row")).to_have_count(10)
    high = box_of(page.locator(".search-dialog"))
    assert low["height"] < 350 < 600 < high["height"] <= 640
    assert (low["x"], low["y"]) == (high["x"], high["y"])


@pytest.mark.matrix
def test_an_excerpt_ends_with_a_whole_word_and_the_dialog_is_whole_at_640_pixels(tab: Callable[..., Page]) -> None:
    page = tab(viewport={"width": 640, "height": 450})
    answer(page, result("/a", "wonderful " * 30))
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("wonderful")
    excerpt = str(page.locator(".page-row .excerpt").text_content())
    assert re.fullmatch(r"(wonderful )*wonderful…", excerpt)
    box = box_of(page.locator(".search-dialog"))
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.evaluate("document.documentElement.clientWidth")


@pytest.mark.matrix
def test_nothing_found_leads_to_near_pages_and_is_told(tab: Callable[..., Page], site: tuple[Service, Tenant]) -> None:
    page = tab()
    answer(page)
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("xyzzyqq widgett")
    expect(page.get_by_role("dialog").get_by_role("status")).to_have_text("No results for “xyzzyqq widgett”.")
    expect(page.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    near = page.get_by_role("group", name="Nearest pages").get_by_role("option")
    expect(near.first).to_have_text("Widget and search")
    page.get_by_role("button", name="Tell us what’s missing").click()
    expect(page.get_by_role("button", name="Thank you")).to_be_visible()
    (row,) = site[1].project.feedback.filter(reason="Missing")
    assert (row.source, row.comment, row.path) == ("contextual", "xyzzyqq widgett", "/quickstart")


@pytest.mark.matrix
def test_asking_goes_on_in_the_same_place_and_is_remembered(tab: Callable[..., Page]) -> None:
    page = tab()
    button = page.get_by_role("button", name="Dark theme")
    button.focus()
    page.keyboard.press("Control+k")
    page.keyboard.type("rate limits")
    expect(page.locator(".page-row").first).to_be_visible()
    box = box_of(page.locator(".search-dialog"))
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    chat = page.get_by_role("dialog", name="Ask the docs")
    expect(chat.get_by_role("article").first).to_contain_text("rate limits")
    expect(chat.get_by_role("textbox")).to_be_focused()
    assert [box_of(chat)[side] for side in ("x", "y", "width")] == [box[side] for side in ("x", "y", "width")]
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(chat).to_be_hidden()
    page.keyboard.press("Control+i")
    expect(chat).to_have_attribute("data-form", "widget")
    page.keyboard.press("Escape")
    button.focus()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("")
    expect(page.get_by_role("option").first).to_have_text("rate limits")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".recent-row")).to_have_count(0)
    assert page.evaluate("localStorage.getItem('docs-search:docs-site')") is None


@pytest.mark.matrix
def test_pages_that_were_opened_come_back_and_may_be_favourites(tab: Callable[..., Page]) -> None:
    page = tab()
    answer(page, result("/quickstart", "x", breadcrumb=["Guides", "Quickstart"]), result("/embed", "x"))
    saved = page.locator(".recent-row")
    for row in (1, 2):
        page.keyboard.press("/")
        page.get_by_role("combobox").fill("x")
        expect(page.locator(".page-row")).to_have_count(2)
        with page.expect_navigation():
            page.get_by_role("option").nth(row).click()
    page.keyboard.press("/")
    expect(saved).to_have_text(["T", "GuidesQuickstart"])
    expect(saved.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+s")
    favourites = page.get_by_role("group", name="Favourites").get_by_role("option")
    expect(favourites).to_have_count(1)
    page.get_by_role("button", name="Clear").click()
    expect(saved).to_have_count(1)
    page.keyboard.press("Delete")
    expect(saved).to_have_count(0)
    assert page.evaluate("localStorage.getItem('docs-search:docs-site')") is None


@pytest.mark.matrix
def test_chips_narrow_and_sections_stand_below_their_page(tab: Callable[..., Page]) -> None:
    page = tab()
    asked: list[dict[str, Any]] = []

    def serve(route: Route) -> None:
        asked.append(json.loads(route.request.post_data or "")["filter"])
        more = [{"section": "More", "url": "https://docs.example.com/a#more", "score": 0.5}]
        found = [result("/a", "x", version="1", sections=more), result("/b", "x", version="2", language="en")]
        route.fulfill(json=found[:1] if asked[-1] else [*found, result("/c", "x", language="de")])

    page.route(FIND, serve)
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("x")
    filters = page.get_by_role("group", name="Narrow the results")
    expect(filters.get_by_role("group", name="Version").get_by_role("button")).to_have_text(["1", "2"])
    expect(filters.get_by_role("group", name="Language").get_by_role("button")).to_have_text(["German", "English"])
    note = filters.get_by_text("Pages that belong to no version are shown, too.")
    expect(note).to_be_hidden()
    section = page.get_by_role("option").nth(2)
    expect(section).to_have_text("More")
    assert str(section.get_attribute("href")).endswith("/a#more")
    page.get_by_role("button", name="1", exact=True).click()
    expect(page.locator(".page-row")).to_have_count(1)
    expect(page.get_by_role("button", name="1", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(note).to_be_visible()
    expect(page.get_by_role("combobox")).to_be_focused()
    page.get_by_role("button", name="1", exact=True).click()
    expect(page.locator(".page-row")).to_have_count(2)
    english = {"language": "en"}  # since one page is German
    assert asked == [{}, english, {"version": "1"}, {}, english]


@pytest.mark.matrix
def test_a_german_page_has_german_results_first(tab: Callable[..., Page]) -> None:
    page = tab("/de/quickstart")

    def serve(route: Route) -> None:
        german = json.loads(route.request.post_data or "")["filter"].get("language") == "de"
        paths = ["/de/b"] if german else ["/a", "/de/b", "/c"]
        route.fulfill(json=[result(path, "x", language="de" if "/de/" in path else "en") for path in paths])

    page.route(FIND, serve)
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("x")
    expect(page.locator(".page-row")).to_have_count(3)
    found = page.locator(".page-row").evaluate_all("rows => rows.map((row) => row.pathname)")
    assert found == ["/de/b", "/a", "/c"]


@pytest.mark.matrix
def test_a_failure_is_told(tab: Callable[..., Page]) -> None:
    page = tab(quiet=True)
    page.route(FIND, lambda route: route.fulfill(status=429, headers={"Retry-After": "2405"}))
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("install")
    expect(page.locator(".search-note")).to_have_text("Too many searches just now. Try again in 41 minutes.")
    expect(page.get_by_role("option")).to_have_text(["Ask: install"])
    page.unroute(FIND)
    page.get_by_role("combobox").fill("rate limits")
    expect(page.locator(".page-row").first).to_be_visible()


@pytest.mark.matrix
def test_enter_before_any_result_leads_to_the_search_page(
    tab: Callable[..., Page], site: tuple[Service, Tenant]
) -> None:
    page = tab()
    page.route(FIND, lambda route: None)
    page.keyboard.press("/")
    page.keyboard.type("scopes of keys")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=scopes+of+keys*")
    link = page.locator(".results a").nth(1)
    target = str(link.get_attribute("href"))
    link.click()
    page.wait_for_url(re.compile(re.escape(target) + "$"))
    wait_for(lambda: clicks(site)[:1] == [("scopes of keys", target.partition("#")[0], 2)], "the click")


@pytest.mark.matrix
def test_without_scripts_the_form_still_searches(tab: Callable[..., Page]) -> None:
    page = tab(java_script_enabled=False)
    page.get_by_role("searchbox").fill("rate limits")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=rate+limits*")
    expect(page.locator(".results a").first).to_be_visible()


@pytest.mark.matrix
def test_it_fills_a_phone_and_nothing_sticks_out(tab: Callable[..., Page]) -> None:
    page = tab(viewport={"width": 390, "height": 780}, is_mobile=True, has_touch=True)
    page.get_by_role("searchbox").tap()
    page.get_by_role("combobox").fill("rate limits")
    expect(page.get_by_role("option").first).to_be_visible()
    box = box_of(page.locator(".search-dialog"))
    assert box
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 390, 780)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    wide = (
        "[...document.querySelectorAll('.search-dialog *')].filter(e => e.getBoundingClientRect().right > 391).length"
    )
    assert page.evaluate(wide) == 0
