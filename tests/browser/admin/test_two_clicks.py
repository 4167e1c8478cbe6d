"""What owners do most takes two clicks from a project's home, with the confirmation, and needs no script."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Locator, Page

from analytics.collecting import recording
from assistant.models import Thread
from docsite.core.tenants.models import ApiKey
from search.models import SearchSettings
from tests.analytics.reports.test_report_page import seen
from tests.analytics.test_page_filter import fill
from tests.assistant.improving.gaps.conftest import store_answer
from tests.browser.conftest import log_in
from tests.conftest import Service, Tenant, logged_in

pytestmark = pytest.mark.browser


class Owner:
    """An owner, whose clicks are counted. Typing is none."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, role: str, name: str | re.Pattern[str], inside: str = "body") -> None:
        self.clicks += 1
        self.find(role, name, inside).click()

    def find(self, role: str, name: str | re.Pattern[str], inside: str = "body") -> Locator:
        return self.page.locator(inside).get_by_role(role, name=name, exact=isinstance(name, str))  # type: ignore[arg-type]

    def read(self, selector: str) -> str:
        return self.page.locator(selector).first.inner_text()


def find_top_question(owner: Owner) -> str:
    owner.click("link", "See what is missing")
    return owner.read("table.gaps tbody th a")


def read_cost(owner: Owner) -> str:
    owner.click("link", re.compile("Tokens of answers"))
    return owner.read("dl.tiles")


def list_agents_of_page(owner: Owner) -> str:
    owner.page.locator("#page-path").fill("/a")
    owner.click("button", "Look it up")
    return owner.read("section.panel:has-text('GPTBot')")


def explain_count(owner: Owner) -> str:
    owner.click("link", "How it is counted")
    return owner.read("h1")


def revoke(owner: Owner) -> str:
    owner.click("link", "API keys", ".at-hand")
    row = "tr:has-text('CI export')"
    owner.find("button", re.compile("Revoke"), row).click()
    assert "No key was revoked" in owner.read(".messagelist"), "not without the word"
    owner.page.locator(row).get_by_role("textbox").fill("revoke")
    owner.click("button", re.compile("Revoke"), row)
    return owner.read(".messagelist")


def invite(owner: Owner) -> str:
    owner.click("link", "People", ".at-hand")
    owner.page.get_by_label("E-mail address").fill("ada@example.org")
    owner.click("button", "Invite as writer")
    return owner.read("pre.sample") + owner.read("table:has-text('ada@example.org')")


def set_retention(owner: Owner) -> str:
    owner.click("link", "How long data is stored")
    assert "Empty: 400 (SEARCH_RETENTION_DAYS)." in owner.read("#content")
    owner.page.locator("#id_search_days").fill("200")
    owner.click("button", "Save")
    return owner.read(".messagelist")


def erase_reader(owner: Owner) -> str:
    owner.page.locator("#whose").fill(Thread.objects.filter(fp="moored").first().thread_id)  # type: ignore[union-attr]
    owner.click("button", "Erase…")
    assert "Conversations: 2, messages: 4" in owner.read("#content")
    owner.click("button", "Erase it for good")
    return owner.read("pre")


def download_last_month(owner: Owner) -> str:
    owner.click("link", "Visitors", ".at-hand")
    owner.page.get_by_role("searchbox", name="Path").fill("/a/")
    with owner.page.expect_download() as download:
        owner.click("button", "Download CSV")
    return download.value.suggested_filename + download.value.path().read_text()


def compare_weeks(owner: Owner) -> str:
    owner.click("link", "7 days")
    return owner.read("p.span")


LAST_MONTH = re.compile(r"-visitors-(\d{4}-\d\d)-01-\1-\d\d\.csv")
TASKS: dict[Callable[[Owner], str], tuple[int, str | re.Pattern[str]]] = {
    find_top_question: (1, "How do I moor it?"),
    read_cost: (1, "This month"),
    list_agents_of_page: (1, "ChatGPT-User"),
    explain_count: (1, "How visitors are counted"),
    revoke: (2, "is revoked"),
    invite: (2, re.compile(r"/invitations/[^W]*W?.*Writer", re.DOTALL)),
    set_retention: (2, "was changed"),
    erase_reader: (2, "Erased   2 conversations"),
    download_last_month: (2, LAST_MONTH),
    compare_weeks: (1, re.compile(r"Europe/Berlin .*Compared with \d{4}-")),
}


@pytest.fixture
def owner(browser: Browser, service: Service, project: Tenant) -> Iterator[Owner]:
    context = browser.new_context(base_url=service.url, java_script_enabled=False)
    log_in(context, service.url, logged_in(f"clicks-{project.project.pk}", project.project.organization))
    yield Owner(context.new_page())
    context.close()


@pytest.mark.matrix
def test_ten_tasks_take_two_clicks_at_most(owner: Owner, project: Tenant) -> None:
    site = project.project
    site.time_zone = "Europe/Berlin"
    site.save()
    now = timezone.now()
    fill(site, now - timedelta(hours=1))
    recording.record(site, [seen("/a/b", at=now.replace(day=1) - timedelta(days=3), ip=1)])
    for _ in range(2):
        store_answer(site, "How do I moor it?", "refused", at=now)
    Thread.objects.filter(messages__content="How do I moor it?").update(fp="moored")
    ApiKey.issue(ApiKey.Kind.ADMIN, site.organization, name="CI export")
    for do, (clicks, expected) in TASKS.items():
        owner.page.goto(f"/admin/project/{project.domain}")
        owner.clicks = 0
        result = do(owner)
        found = expected.search(result) if isinstance(expected, re.Pattern) else expected in result
        assert found, f"{do.__name__}: {result}"
        assert owner.clicks <= clicks, do.__name__
    assert SearchSettings.for_project(type(site).objects.get(pk=site.pk)).search_days == 200
