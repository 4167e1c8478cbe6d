"""Every state of the widget on the gallery page: designed, and without anything that axe finds."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import OPEN_ROOTS, violations
from tests.browser.test_widget import PHONE

pytestmark = pytest.mark.browser

# What tells each state from all others.
STATES = {
    "empty": ".starters >> text=Who counts as AI?",
    "composing": ".composer >> text=compose.sh · 3 lines",
    "sending": ".status[data-kind=sending] .pulse",
    "searching": ".status[data-kind=searching] .pulse",
    "reading": ".status >> text=Quickstart, Errors and limits",
    "answering": ".caret",
    "done": "article[data-phase=done] figure",
    "searches": ".searches >> text=Read Quickstart",
    "elements": ".prose table",
    "citation": ".card mark",
    "context": ".question .pointed >> text=compose.sh · 3 lines",
    "rated": ".feedback >> text=What was wrong?",
    "refused": ".refused a >> text=Ask the people behind these docs",
    "stopped": ".outcome >> text=Continue",
    "reconnecting": ".status >> text=Reconnecting",
    "failed": ".failure >> text=Status 503",
    "waiting": ".status >> text=Ready in",
    "extractive": ".banner >> text=AI answers are paused",
    "queued": ".status >> text=back online",
    "restarted": ".restarted",
    "menu": "[role=menu] >> text=Delete my data",
    "past": ".past >> text=Who counts as AI?",
    "delete": ".cover .danger",
    "about": ".cover >> text=What is kept",
    "counter": ".counter >> text=of 32,000",
    "hostile": ".prose >> text=<script>alert(1)</script>",
}
# Those that a small screen shows otherwise.
ON_A_PHONE = ("empty", "composing", "elements", "citation", "rated", "stopped", "menu", "delete")
# Whether all of something is inside the part of its panel that scrolls.
IN_VIEW = """(element) => {
  const [box, view] = [element, element.closest(".transcript, .cover-body, dialog")]
    .map((of) => of.getBoundingClientRect());
  return box.top >= view.top && box.bottom <= view.bottom;
}"""


@pytest.fixture
def gallery(browser: Browser, service: Any) -> Iterator[Callable[..., Page]]:
    """Open the gallery page, whose panels' roots axe and the tests can reach."""
    contexts = []

    def show(**options: Any) -> Page:
        contexts.append(browser.new_context(reduced_motion="reduce", **options))
        contexts[-1].add_init_script(OPEN_ROOTS)
        page = contexts[-1].new_page()
        page.problems, page.asked = [], []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("console", lambda message: message.type == "error" and page.problems.append(message.text))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(f"{service.url}/gallery")
        expect(page.locator(".stage")).to_have_count(len(STATES))
        return page

    yield show
    for context in contexts:
        context.close()


@pytest.mark.matrix
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_state(gallery: Callable[..., Page], scheme: str) -> None:
    page = gallery(color_scheme=scheme, viewport={"width": 1600, "height": 900})
    assert [stage.get_attribute("id") for stage in page.locator(".stage").all()] == [f"state-{name}" for name in STATES]
    expect(page.get_by_role("dialog")).to_have_count(len(STATES))
    wrong = {name: violations(page, f"#state-{name}") for name in STATES}
    assert {name: found for name, found in wrong.items() if found} == {}
    assert page.problems == []


@pytest.mark.matrix
def test_axe_finds_nothing_on_a_phone(gallery: Callable[..., Page]) -> None:
    page = gallery(viewport=PHONE, has_touch=True)
    wrong = {}
    for name in ON_A_PHONE:
        page.locator(f"figure:has(#state-{name})").get_by_role("button", name="Show", exact=True).click()
        panel = page.get_by_role("dialog")
        expect(panel).to_be_visible()
        wrong[name] = violations(page, f"#state-{name}")
        panel.get_by_role("button", name="Close", exact=True).click()
        expect(panel).to_be_hidden()
    assert {name: found for name, found in wrong.items() if found} == {}
    assert page.problems == []


@pytest.mark.matrix
def test_each_frame_shows_the_state_it_is_named_after_and_nothing_is_asked_or_kept(
    gallery: Callable[..., Page],
) -> None:
    page = gallery(viewport={"width": 1600, "height": 900})
    for name, mark in STATES.items():
        shown = page.locator(f"#state-{name}").locator(mark).first
        expect(shown, name).to_be_visible()
        assert name == "elements" or shown.evaluate(IN_VIEW), name
    expect(page.locator("#state-done .next")).to_contain_text("Every setting")
    assert page.evaluate("scrollY") == 0
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes('gallery'))") == []
    assert [url for url in page.asked if re.search(r"/discovery/v\d/assistant", url)] == []
    assert page.problems == []
