"""Answers in an owner's own support form: they appear after a pause, “This solved it” counts, the form works anyway."""

from typing import Any

import pytest
from playwright.sync_api import expect

from assistant.support_requests import store
from tests.browser.conftest import SharedHostTab, violations
from tests.browser.test_search_tag import SearchHost
from tests.conftest import Tenant, wait_for

pytestmark = pytest.mark.browser

FORM = (
    '<form action="/install"><label>Subject <input id="subject" name="subject"></label>'
    "<label>Text <textarea></textarea></label><button>Send it</button></form>"
)


@pytest.fixture
def host(shared_host_tab: SharedHostTab, service: Any, make_project: Any, project: Tenant) -> SearchHost:
    return SearchHost(shared_host_tab.reset(), service.url, project)


def counts(tenant: Tenant) -> dict[str, int]:
    from django.utils import timezone

    return store.sum_forms(tenant.project, timezone.now().date())


@pytest.mark.matrix
def test_answers_appear_while_a_reader_writes_and_are_counted(host: SearchHost) -> None:
    page = host.open('data-deflect="#subject"', body=FORM).page
    assert not any("deflect" in script for script in host.scripts)
    page.locator("#subject").press_sequentially("print labels on a thermal printer", delay=20)
    answers = page.get_by_role("region", name="These pages may answer it")
    expect(answers.get_by_role("link", name="Printing labels")).to_have_attribute(
        "href", "https://docs.acme.example/guides/labels#label-printers"
    )
    expect(answers.locator("mark").first).to_be_visible()
    expect(page.get_by_role("status").first).to_contain_text("below the field")
    expect(page.get_by_role("textbox", name="Subject", exact=True)).to_be_focused()
    assert violations(page, "form") == []
    wait_for(lambda: counts(host.tenant) == {"begun": 1, "shown": 1, "solved": 0, "sent": 0}, "the counts")
    page.locator("#subject").press_sequentially(" please")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Good. You need not send anything.")).to_be_focused()
    wait_for(lambda: counts(host.tenant) == {"begun": 1, "shown": 1, "solved": 1, "sent": 0}, "the solution")
    page.get_by_role("button", name="Send it").click()
    wait_for(lambda: counts(host.tenant)["sent"] == 1, "the form that was sent")
    assert host.errors == []


@pytest.mark.matrix
def test_nothing_appears_where_no_page_is_near(host: SearchHost) -> None:
    page = host.open('data-deflect="#subject"', body=FORM).page
    with page.expect_response("**/discovery/v1/search/**"):
        page.locator("#subject").press_sequentially("pineapple umbrella giraffe")
    expect(page.get_by_role("region", name="These pages may answer it")).to_have_count(0)
    assert counts(host.tenant)["shown"] == 0


@pytest.mark.matrix
def test_the_form_works_while_the_service_is_away(host: SearchHost) -> None:
    page = host.open('data-deflect="#subject"', body=FORM).page
    page.route("**/discovery/**", lambda route: route.abort())
    page.locator("#subject").press_sequentially("print labels")
    page.get_by_role("button", name="Send it").click()
    page.wait_for_url("**/install?subject=print+labels")
    assert host.errors == []


@pytest.mark.matrix
def test_a_strict_page_shows_answers_in_its_language(host: SearchHost) -> None:
    csp = f"default-src 'none'; script-src {host.url}; connect-src {host.url}; form-action 'self'"
    page = host.open('data-deflect="#subject" data-language="de"', body=FORM, csp=csp).page
    page.locator("#subject").press_sequentially("print labels")
    expect(page.get_by_role("button", name="Das hat geholfen").first).to_be_visible()
    assert page.evaluate("violations") == []
