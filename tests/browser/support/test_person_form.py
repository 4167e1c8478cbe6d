"""Asking a person in the widget, and without JavaScript: from a refusal and the menu, by keyboard, to a mailbox."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from assistant.models import SupportRequest, SupportSettings
from docsite.core.delivery.models import Delivery
from tests.browser.conftest import OPEN_ROOTS, violations
from tests.conftest import Tenant, wait_for
from tests.receivers import serve_mail

pytestmark = pytest.mark.browser

QUESTION = "Who won the chess championship of 1972?"


@pytest.fixture(scope="module")
def desk(start: Any, reading_project: Tenant) -> Any:
    """A service whose own pages belong to a project that takes support requests."""
    with serve_mail() as mail:
        service = start.fresh(
            EMAIL_URL=mail.url,
            EMAIL_FROM="docs@service.example",
            SITE_DOMAIN=reading_project.domain,
            SITE_ASSISTANT_KEY=reading_project.assistant_key,
        )
        SupportSettings.objects.update_or_create(
            project=reading_project.project, defaults={"service_url": service.url, "emails": ["owner@acme.example"]}
        )
        yield service, mail
        SupportSettings.objects.filter(project=reading_project.project).delete()


@pytest.fixture
def open_page(browser: Browser, desk: Any) -> Any:
    """Open a page of the site in a context of its own, where nothing may end up in the console."""
    contexts, problems = [], []

    def show(path: str, **options: Any) -> Page:
        contexts.append(browser.new_context(base_url=desk[0].url, **options))
        contexts[-1].add_init_script(OPEN_ROOTS)
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: _is_fault(message) and problems.append(message.text))
        page.goto(path)
        return page

    yield show
    assert problems == []
    for context in contexts:
        context.close()


def _is_fault(message: Any) -> bool:
    """Whether it is more than the browser's note about a refused request."""
    return message.type == "error" and "status of 4" not in message.text


def ask(page: Page, question: str = QUESTION) -> None:
    page.evaluate("DocsAssistant.open()")
    page.locator(".composer textarea").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".answer").last).to_have_attribute("data-phase", "done")


def latest(tenant: Tenant, subject: str) -> SupportRequest:
    return SupportRequest.objects.filter(project=tenant.project, subject=subject).latest("pk")


@pytest.mark.matrix
def test_a_refusal_leads_to_the_form_and_the_mailbox(open_page: Any, desk: Any, reading_project: Tenant) -> None:
    page = open_page("/quickstart")
    ask(page)
    page.locator(".answer a[href*='/support/']").click()
    form = page.locator(".person")
    expect(form.get_by_label("Subject")).to_have_value(QUESTION)
    expect(page.locator(".cover h3")).to_be_focused()
    expect(page.locator(".composer")).to_be_hidden()
    expect(form.get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)  # below a form that is higher
    assert [one for one in violations(page) if not one.startswith("landmark-")] == []  # those of the whole page
    page.keyboard.press("Tab")
    expect(form.get_by_label("Your e-mail address")).to_be_focused()
    page.keyboard.press("Enter")
    expect(form.get_by_role("alert")).to_have_text("Write an e-mail address, such as name@example.com.")
    expect(form.get_by_role("alert")).to_be_in_viewport(ratio=1)
    expect(form.get_by_label("Your e-mail address")).to_have_attribute("aria-invalid", "true")
    page.keyboard.type("ada@reader.example")
    form.get_by_label("Message").fill("Please tell me.")
    page.keyboard.press("Tab")
    expect(form.get_by_role("checkbox")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    sent = page.locator(".person-sent")
    expect(sent).to_be_focused()
    request = latest(reading_project, QUESTION)
    expect(sent).to_contain_text(request.request_id)
    assert [turn["role"] for turn in request.transcript] == ["user", "assistant"]
    assert request.thread
    assert request.page_path == "/quickstart"
    deliveries = Delivery.objects.filter(subject=request.request_id, state="delivered")
    wait_for(deliveries.exists, "the mail")
    assert any(request.request_id in letter.get_content() for letter in desk[1].mail)
    page.keyboard.press("Escape")
    expect(page.locator(".cover")).to_be_hidden()
    expect(page.locator(".composer")).to_be_visible()


@pytest.mark.matrix
def test_the_menu_leads_to_the_form_and_the_reader_unticks(open_page: Any, reading_project: Tenant) -> None:
    page = open_page("/quickstart")
    ask(page, "How do I install acme?")
    ask(page, "Where is ACME_HOME set?")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Ask a person").click()
    form = page.locator(".person")
    boxes = form.get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    boxes.first.uncheck()
    form.get_by_label("Your e-mail address").fill("bob@reader.example")
    form.get_by_label("Subject").fill("Two questions")
    form.get_by_label("Message").fill("Neither helped.")
    form.get_by_role("button", name="Send").click()
    expect(page.locator(".person-sent")).to_be_visible()
    request = latest(reading_project, "Two questions")
    assert [turn["text"] for turn in request.transcript if turn["role"] == "user"] == ["Where is ACME_HOME set?"]


@pytest.mark.matrix
def test_what_was_written_stays_when_the_service_is_away(open_page: Any, reading_project: Tenant) -> None:
    page = open_page("/quickstart")
    page.evaluate("DocsAssistant.open()")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Ask a person").click()
    form = page.locator(".person")
    form.get_by_label("Your e-mail address").fill("carl@reader.example")
    form.get_by_label("Subject").fill("Stays")
    form.get_by_label("Message").fill("It is still here.")
    page.route("**/discovery/v1/support/**", lambda route: route.fulfill(status=429, body="{}", headers={}))
    form.get_by_role("button", name="Send").click()
    expect(form.get_by_role("alert")).to_contain_text("several messages")
    expect(form.get_by_label("Message")).to_have_value("It is still here.")
    page.unroute("**/discovery/v1/support/**")
    form.get_by_role("button", name="Send").click()
    expect(page.locator(".person-sent")).to_be_visible()
    assert latest(reading_project, "Stays").email == "carl@reader.example"


@pytest.mark.matrix
def test_the_form_speaks_german_on_a_german_page(open_page: Any) -> None:
    page = open_page("/de")
    page.evaluate("DocsAssistant.open()")
    page.get_by_role("button", name="Mehr").click()
    page.get_by_role("menuitem", name="Einen Menschen fragen").click()
    expect(page.locator(".person").get_by_label("Ihre E-Mail-Adresse")).to_be_visible()


@pytest.mark.matrix
def test_without_an_address_the_widget_offers_no_person(tab: Any) -> None:
    page = tab("/quickstart")
    page.evaluate("DocsAssistant.open()")
    about = page.get_by_role("menuitem", name="About")

    def is_open() -> bool:  # the panel may still be loading, and then closes its menu again
        if not about.is_visible():
            page.get_by_role("button", name="More").click()
        return about.is_visible()

    wait_for(is_open, "the menu")
    expect(about).to_be_visible()
    expect(page.get_by_role("menuitem", name="Ask a person")).to_have_count(0)


@pytest.mark.matrix
def test_without_javascript_a_refusal_leads_to_a_person(open_page: Any, reading_project: Tenant) -> None:
    page = open_page("/ask", java_script_enabled=False)
    page.fill("#question", QUESTION)
    page.click(".ask-form button")
    page.get_by_role("link", name="Ask a person").click()
    expect(page.get_by_role("checkbox")).to_be_checked()
    page.get_by_label("Your e-mail address").fill("dora@reader.example")
    page.get_by_label("Subject").fill("No script")
    page.get_by_label("Message").fill("I use no scripts.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).to_contain_text("very fast")
    page.wait_for_timeout(3200)  # as a person takes
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Your message was sent")).to_be_visible()
    request = latest(reading_project, "No script")
    expect(page.get_by_text(request.request_id)).to_be_visible()
    assert request.transcript[0]["text"] == QUESTION


@pytest.mark.matrix
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_without_javascript_is_accessible(open_page: Any, reading_project: Tenant, scheme: Any) -> None:
    page = open_page(f"/support/{reading_project.domain}", color_scheme=scheme, viewport={"width": 390, "height": 800})
    assert violations(page, "main") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page).to_have_title(re.compile("Ask a person"))
