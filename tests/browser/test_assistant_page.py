"""The page on which an owner tells the assistant something, in a browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import log_in
from tests.conftest import Service, Tenant, logged_in
from tests.variants import first_of

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Browser, service: Service, project: Tenant) -> Iterator[Page]:
    """The page of a project's assistant, as its owner sees it."""
    context = browser.new_context()
    log_in(context, service.url, logged_in(f"tells-{project.domain}", project.project.organization))
    tab = context.new_page()
    tab.goto(f"{service.url}/admin/assistant/assistantsettings/of/{project.domain}")
    yield tab
    context.close()


@pytest.mark.matrix
@pytest.mark.parametrize("button", first_of(["Save", "Try"], 1))
def test_after_an_error_the_focus_is_where_it_is_corrected(page: Page, button: str) -> None:
    page.get_by_label("Support link").fill("ftp://acme.example")
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text(f"Nothing was {'tried' if button == 'Try' else 'saved'}.")
    expect(page.get_by_label("Support link")).to_be_focused()


@pytest.mark.matrix
def test_a_try_without_a_question_leads_to_its_field(page: Page) -> None:
    page.get_by_role("button", name="Try", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was tried.")
    expect(page.get_by_label("Question:", exact=True)).to_be_focused()
