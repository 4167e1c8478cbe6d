"""Looks at a page in Chromium as a reader does: asks the assistant, and searches."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Page, expect, sync_playwright

from tests.browser.conftest import ARGUMENTS, OPEN_ROOTS, find_program

QUESTION = "How do I put the widget on my site?"
LAUNCHER = "docs-assistant .launcher"
BUTTON = "[data-docs-search] button"  # of the search, in an element of the page


@contextlib.contextmanager
def open_tab() -> Iterator[Page]:
    """A tab, in which no page may report an error. What a theme loads from other hosts, such as fonts, may fail."""
    problems: list[str] = []

    def note(message: ConsoleMessage) -> None:
        address = message.location["url"]
        if message.type in ("error", "warning") and (not address or address.startswith("http://127.0.0.1")):
            problems.append(message.text)

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_program(), args=list(ARGUMENTS))
        context = chromium.new_context(viewport={"width": 1280, "height": 800}, permissions=["local-network-access"])
        context.add_init_script(OPEN_ROOTS)
        tab = context.new_page()
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("console", note)
        yield tab
        chromium.close()
    if problems:
        raise AssertionError(f"the console has {problems}")


def ask(tab: Page, picture: Path) -> str:
    """Ask the assistant of the open page. Returns what was seen; fails without an answer that cites a page."""
    tab.locator(LAUNCHER).click()
    panel = tab.locator("docs-assistant").get_by_role("dialog")
    field = panel.get_by_role("textbox")
    field.fill(QUESTION)
    field.press("Enter")
    expect(tab.locator("docs-assistant .answer[data-phase=done] .prose sup a").first).to_be_visible()
    picture.parent.mkdir(exist_ok=True)
    tab.wait_for_timeout(400)  # the end of the animations
    tab.screenshot(path=picture)
    field.press("Escape")
    expect(panel).to_be_hidden()
    return "answer with citations"


def search(tab: Page, trigger: str, picture: Path) -> str:
    """Open the search with an element of the page. Returns what was seen; fails without results."""
    tab.locator(trigger).first.click()
    dialog = tab.locator("docs-search").get_by_role("dialog")
    field = dialog.locator("[name=q]")
    field.fill("rate limits")
    expect(dialog.locator(".page-row").first).to_be_visible()
    picture.parent.mkdir(exist_ok=True)
    tab.wait_for_timeout(400)
    tab.screenshot(path=picture)
    field.press("Escape")
    expect(dialog).to_be_hidden()
    return "search with results"
