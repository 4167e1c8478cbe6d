"""An owner closes a gap in a browser: from the group of a refused question to “answered since”."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import follow, log_in, violations
from tests.conftest import PATIENCE, Service, Tenant, logged_in, question

pytestmark = pytest.mark.browser

QUESTION = "How do I rotate the keys?"


@pytest.fixture(scope="module")
def service(start: Any) -> Service:
    """A service that asks fixed questions again."""
    return start.fresh()


@pytest.fixture
def owner(browser: Browser, service: Service, project: Tenant) -> Iterator[Page]:
    """The owner of the project, logged in, whose scripts are off: every action is a form."""
    context = browser.new_context(base_url=service.url, java_script_enabled=False)
    log_in(context, service.url, logged_in(f"owner of {project.domain}", project.project.organization))
    yield context.new_page()
    context.close()


@pytest.fixture
def ask(http: httpx.Client, service: Service, project: Tenant) -> Callable[[str], str]:
    """Ask as a reader. Returns the stream of the answer."""

    def send(text: str) -> str:
        address = f"{service.url}/discovery/v1/assistant/{project.domain}/message"
        response = http.post(address, json=question(text), headers=project.assistant, timeout=PATIENCE)
        assert response.status_code == 200
        return response.text

    return send


@pytest.mark.matrix
def test_a_gap_is_closed(owner: Page, ask: Callable[[str], str], project: Tenant, acme_docs: Path) -> None:
    """Pin an answer, mark the group as fixed; it is asked again now, and with the next index."""
    from search.indexing.ingest import ingest
    from search.sources.markdown.folder import read_folder

    ask(QUESTION)
    ask("rotating keys")
    owner.goto(f"/admin/project/{project.domain}")
    follow(owner.locator(".workspace-nav").get_by_role("link", name="Gaps", exact=True))
    follow(owner.get_by_role("rowheader").get_by_role("link", name="rotating keys"))
    expect(owner.get_by_role("rowheader", name=QUESTION)).to_be_visible()

    submit(owner, "Mark as fixed", "fix")
    wait_for_badge(owner, "fixed, but refused")

    open_part(owner, "Pin an answer")
    form = owner.locator("form[action$='/pin']")
    form.get_by_label("Answer").fill("Under **Keys**, choose Rotate.")
    form.get_by_label("Page to cite").fill("/configure#environment")
    follow(form.get_by_role("button", name="Pin"))
    expect(owner.get_by_text("Readers get this answer to every question of this group")).to_be_visible()
    assert "Under **Keys**, choose Rotate." in ask("How can I rotate keys?")

    (acme_docs / "new.md").write_text("# Something else\n\nText.\n")
    ingest(project.project, read_folder(acme_docs))
    wait_for_badge(owner, "answered since")
    expect(owner.get_by_text("before 0 of 2 (0%), since then 1 of 1 (100%)").first).to_be_visible()
    expect(owner.get_by_text("UTC: answered, cites /configure")).to_be_visible()
    owner.goto(f"/admin/project/{project.domain}/gaps?state=fixed")
    expect(
        owner.get_by_role("row", name="How can I rotate keys?").or_(owner.get_by_text("answered since"))
    ).to_be_visible()


@pytest.mark.matrix
def test_a_page_closes_a_gap(owner: Page, ask: Callable[[str], str], project: Tenant, acme_docs: Path) -> None:
    """The owner writes the page that was missing."""
    from search.indexing.ingest import ingest
    from search.sources.markdown.folder import read_folder

    ask(QUESTION)
    owner.goto(f"/admin/project/{project.domain}/gaps")
    follow(owner.get_by_role("rowheader").get_by_role("link", name=QUESTION))
    submit(owner, "Mark as fixed", "fix")
    wait_for_badge(owner, "fixed, but refused")
    text = "# Rotate the keys\n\nTo rotate the keys, run `acme keys rotate`. It rotates all keys at once.\n"
    (acme_docs / "keys.md").write_text(text)
    ingest(project.project, read_folder(acme_docs))
    wait_for_badge(owner, "answered since")


@pytest.mark.matrix
def test_pages_are_accessible_and_fit(
    browser: Browser, owner: Page, ask: Callable[[str], str], project: Tenant
) -> None:
    """No rule of axe is broken, and no page is wider than its window."""
    ask(QUESTION)
    base = f"/admin/project/{project.domain}"
    owner.goto(f"{base}/gaps")
    link = owner.get_by_role("rowheader").get_by_role("link", name=QUESTION).get_attribute("href")
    context = browser.new_context(
        base_url=owner.url.partition("/admin")[0],
        storage_state=owner.context.storage_state(),
        bypass_csp=True,
    )
    page = context.new_page()
    for path in (f"{base}/gaps", f"{base}/questions", str(link)):
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(path)
            assert violations(page) == [], (path, width)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
    context.close()


def submit(page: Page, part: str, action: str) -> None:
    """Send the form of an action, as it is filled."""
    open_part(page, part)
    follow(page.locator(f"form[action$='/{action}']").get_by_role("button"))


def open_part(page: Page, part: str) -> None:
    """Open a part of the page that is folded."""
    details: Any = page.locator("details", has=page.locator("summary", has_text=part))
    if details.get_attribute("open") is None:
        details.locator("summary").click()


def wait_for_badge(page: Page, text: str) -> None:
    """Load the page again until the badge is there."""
    badge = page.locator(".badge", has_text=text)
    for _ in range(PATIENCE):
        page.reload()
        if badge.count():
            return
        page.wait_for_timeout(1000)
    expect(badge).to_be_visible()
