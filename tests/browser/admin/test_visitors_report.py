"""The visitors report as its owner, a teammate and a stranger walk it, in a browser."""

import ipaddress
import os
import re
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from analytics.collecting import recording
from analytics.collecting.recording import Observation
from analytics.reports import visitor_counts
from docsite.core.tenants.management.commands.createproject import create_project
from tests.analytics.conftest import CHATGPT, CHROME, CURL, GPTBOT
from tests.browser.conftest import box_of, follow, log_in, violations
from tests.conftest import Service, Tenant, logged_in

pytestmark = pytest.mark.browser

START, END = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
MARCH = "?from=2026-03-01&to=2026-04-01"


@pytest.fixture(scope="module")
def site(django_db_setup: None) -> Tenant:
    """A project whose 60 pages were read in March, and in February. No test adds a view to it."""
    domain = f"visitors-{os.getpid()}"
    project, *keys = create_project(domain, "Visitors", "https://docs.acme.example", [])
    tenant = Tenant(project, *keys, domain, project.project_id)
    agents = [CHROME, CHROME, CHROME, CHATGPT, GPTBOT, CURL]
    recording.record(
        tenant.project,
        [
            Observation(
                uuid.uuid4().hex,
                f"/page-{number % 60:02}" + ".md" * (number % 11 == 0),
                (START if number // 60 % 9 else START - timedelta(days=28)) + timedelta(hours=number),
                ipaddress.ip_address("198.51.100.0") + number % 17,
                agents[number // 60 % len(agents)],
            )
            for number in range(600)
        ],
    )
    visitor_counts.refresh(tenant.project)  # a page waits only a moment for views to be counted
    return tenant


@pytest.fixture
def walk(browser: Browser, service: Service, site: Tenant) -> Iterator[Callable[..., Page]]:
    """A function that opens the report with the session of a client. No page may have reported an error at the end."""
    contexts, problems = [], []

    def open_as(client: Client, query: str = "", path: str = "", **options: Any) -> Page:
        contexts.append(browser.new_context(base_url=service.url, **options))
        log_in(contexts[-1], service.url, client)
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: "Content Security Policy" in line.text and problems.append(line.text))
        page.goto(path or f"/admin/analytics/pageview/visitors/{site.domain}{query}")
        return page

    yield open_as
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def teammate(site: Tenant) -> Client:
    """A member of the project's organization."""
    return logged_in(f"teammate-{site.project.pk}", site.project.organization)


def cells(page: Page, column: int) -> list[str]:
    """A column of the table of pages or agents."""
    return page.locator(
        f".scrolls table:not(.numbers table, .assistants table) tbody tr > :nth-child({column})"
    ).all_inner_texts()


@pytest.mark.matrix
def test_an_owner_walks_the_report(walk: Callable[..., Page], site: Tenant) -> None:
    page = walk(logged_in("report-owner", is_superuser=True), path="/admin/")
    page.goto(f"/admin/projects/project/of/{site.domain}")
    page.locator(".workspace-nav summary", has_text="Readers").click()
    follow(page.get_by_role("link", name="Visitors", exact=True))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Visitors: ")
    expect(page.get_by_text("No visitors in this range.")).to_be_visible()
    page.fill("[name=from]", "2026-03-01")
    page.fill("[name=to]", "2026-04-01")
    follow(page.get_by_role("button", name="Show"))

    counts = visitor_counts.count_visitors(site.project, START, END)
    assert page.locator(".tiles dd:first-of-type").all_inner_texts()[:3] == [str(n) for n in counts.totals.values()]
    rows = counts.rows()
    assert cells(page, 1) == [row["path"] for row in rows[:50]]
    assert cells(page, 4) == [str(row["total"]) for row in rows[:50]]
    with page.expect_download() as download:
        page.get_by_role("link", name="Visitors, CSV").click()
    lines = download.value.path().read_text().splitlines()[2:]
    assert lines == [f"{row['path']},{row['human']},{row['ai']},{row['total']}" for row in rows]

    follow(page.get_by_role("link", name="Next"))
    assert cells(page, 1) == [row["path"] for row in rows[50:]]
    follow(page.get_by_role("link", name="Path"))
    assert cells(page, 1) == sorted(row["path"] for row in rows)[:50], "sorted anew, from the first page on"
    page.get_by_role("searchbox", name="Path").fill("page-0")
    follow(page.get_by_role("button", name="Filter"))
    follow(page.get_by_role("link", name=re.compile("Compare")))
    follow(page.get_by_role("link", name="Views", exact=True).first)
    for _ in range(2):
        assert cells(page, 1) == [f"/page-0{number}" for number in range(10)]
        expect(page.get_by_role("columnheader", name="Path")).to_have_attribute("aria-sort", "ascending")
        expect(page.get_by_role("columnheader", name="Change", exact=True)).to_be_visible()
        expect(page.get_by_role("heading", name="Views by day")).to_be_visible()
        expect(page.get_by_text("Compared with 2026-01-29")).to_be_visible()
        page.reload()  # the state is in the address
    assert page.evaluate("scrollY") > 0, "what changes the table leads back to it"
    page.get_by_role("searchbox", name="Path").fill("")
    follow(page.get_by_role("button", name="Filter"))
    expect(page.get_by_role("searchbox", name="Path")).to_have_value("")
    assert "q=" not in page.url


@pytest.mark.matrix
def test_a_teammate_looks_at_the_agents(walk: Callable[..., Page], teammate: Client) -> None:
    page = walk(teammate, MARCH)
    follow(page.get_by_label("Tables").get_by_role("link", name="Agents"))
    assert {"ChatGPT-User", "GPTBot", "curl"} <= {text.split("\n")[0] for text in cells(page, 1)}
    follow(page.get_by_role("link", name=re.compile("HTTP client 1")))
    assert [text.split("\n")[0] for text in cells(page, 1)] == ["curl"]
    follow(page.get_by_role("link", name="curl"))
    expect(page.get_by_role("img", name="Views by day")).to_be_visible()
    follow(page.get_by_role("link", name="Its single views"))
    expect(page.get_by_role("heading", name="Page views").first).to_be_visible()
    follow(page.get_by_role("link", name="Visitors: "))
    expect(page.get_by_text("2026-03-01 00:00 to 2026-04-01 00:00 UTC").first).to_be_visible()


@pytest.mark.matrix
def test_a_stranger_finds_nothing(walk: Callable[..., Page], site: Tenant, make_project: Any) -> None:
    other = make_project().project
    page = walk(logged_in(f"stranger-{other.pk}", other.organization), MARCH)
    expect(page.locator("body")).not_to_contain_text("/page-0")
    for file in ("", "/visitors.csv", "/views.csv"):
        url = f"/admin/analytics/pageview/visitors/{site.domain}{file}"
        assert page.request.get(url).status == 404
    page.goto(f"/admin/analytics/pageview/?project={site.domain}")
    expect(page.locator("#result_list")).to_have_count(0)
    page.goto("/admin/")
    expect(page.locator("body")).not_to_contain_text(site.domain)


@pytest.mark.matrix
def test_the_chart_is_read_with_the_keyboard(walk: Callable[..., Page], teammate: Client) -> None:
    page = walk(teammate, f"{MARCH}&compare=1")
    tooltips = page.locator(".points .told")
    expect(page.get_by_role("img", name="Visitors by day, human and AI")).to_be_visible()
    page.locator(".points input").first.focus()
    page.keyboard.press("ArrowRight")
    expect(tooltips.nth(1)).to_have_css("opacity", "1")
    expect(tooltips.nth(0)).to_have_css("opacity", "0")
    expect(
        page.get_by_role("radio", name=re.compile(r"^Mon 2 Mar 2026: \d+ human, \d+ AI, \d+ unique"))
    ).to_be_checked()
    tooltips.nth(4).locator("..").hover()
    expect(tooltips.nth(4)).to_have_css("opacity", "1")
    expect(tooltips.nth(1)).to_have_css("opacity", "0")
    page.get_by_text("As a table").click()
    assert page.locator(".numbers tbody tr").count() == tooltips.count() == 31


@pytest.mark.matrix
def test_a_bad_date_stays_in_its_field(walk: Callable[..., Page], teammate: Client) -> None:
    page = walk(teammate, "?from=2026-02-30&to=2026-03-05")
    expect(page.get_by_role("alert")).to_contain_text("From: this is not a date; write a day such as 20")
    expect(page.get_by_label("From")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("[name=from]")).to_have_value("2026-02-30")
    page.fill("[name=from]", "2026-03-01")
    follow(page.get_by_role("button", name="Show"))
    expect(page.get_by_role("heading", name="Visitors by day")).to_be_visible()


@pytest.mark.matrix
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(walk: Callable[..., Page], teammate: Client, site: Tenant, scheme: Any) -> None:
    page = walk(teammate, f"{MARCH}&compare=1", color_scheme=scheme)
    bare = page.url.partition("?")[0]
    assert violations(page, ".report") == []
    page.locator("details", has=page.locator("summary", has_text="Annotations")).evaluate("it => (it.open = true)")
    page.get_by_label("What happened").fill("Release 2")
    page.get_by_label("Day, or time in UTC").fill("2026-03-05")
    follow(page.get_by_role("button", name="Add"))
    expect(page.get_by_role("button", name="Delete “Release 2”").first).to_be_visible()
    assert violations(page, ".report") == []
    agents = f"/admin/project/{site.domain}/agents"
    for path in (f"{agents}{MARCH}", f"{agents}/agent{MARCH}&class=ai_training&agent=GPTBot", f"{bare}/share"):
        page.goto(path)
        assert violations(page, ".report") == [], path
    follow(page.get_by_role("button", name="Create a link"))
    page.goto(page.get_by_label("Link", exact=True).inner_text() + MARCH)
    expect(page.get_by_role("heading", name="Visitors by day")).to_be_visible()
    assert violations(page, "body") == []


@pytest.mark.matrix
def test_the_visitors_of_now_are_renewed(walk: Callable[..., Page], make_project: Any) -> None:
    site = make_project()
    reader = ipaddress.ip_address("198.51.100.99")
    recording.record(site.project, [Observation(uuid.uuid4().hex, "/then", START, reader, CHROME)])
    member = logged_in(f"teammate of {site.domain}", site.project.organization)
    page = walk(member, path=f"/admin/analytics/pageview/visitors/{site.domain}{MARCH}")
    expect(page.get_by_text("0 visitors in the last five minutes")).to_be_visible()
    recording.record(site.project, [Observation(uuid.uuid4().hex, "/now", datetime.now(UTC), reader, CHROME)])
    expect(page.get_by_text("1 visitor in the last five minutes")).to_be_visible()
    expect(page.get_by_label("Now").get_by_text("/now")).to_be_visible()


@pytest.mark.matrix
def test_a_narrow_page_does_not_scroll_sideways(walk: Callable[..., Page], teammate: Client) -> None:
    page = walk(teammate, viewport={"width": 320, "height": 640})
    bare = page.url.partition("?")[0]
    for query in ("", MARCH, f"{MARCH}&compare=1", f"{MARCH}&tab=agents", "?from=x"):
        page.goto(bare + query)
        assert page.evaluate("document.documentElement.scrollWidth") == 320, query


@pytest.mark.matrix
def test_a_row_is_a_block_on_a_phone_and_a_table_that_goes_on_fades(
    walk: Callable[..., Page], teammate: Client
) -> None:
    page = walk(teammate, f"{MARCH}&tab=agents", viewport={"width": 360, "height": 640})
    table = page.locator(".scrolls").last
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="GPTBot"))
    expect(row.get_by_role("cell").first).to_have_attribute("data-label", "Views")
    last = box_of(row.get_by_role("cell").last)
    assert last["x"] + last["width"] <= 360
    page.set_viewport_size({"width": 780, "height": 640})
    expect(table).to_have_class(re.compile("more"))
    table.evaluate("box => box.scrollTo(10_000, 0)")
    expect(table).not_to_have_class(re.compile("more"))


@pytest.mark.matrix
def test_a_call_is_copied(walk: Callable[..., Page], teammate: Client) -> None:
    page = walk(teammate, MARCH, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy: API call").click()
    expect(page.get_by_role("button", name="Copy: API call")).to_have_text("Copied")
    assert "dateFrom=2026-03-01T00:00:00Z" in page.evaluate("navigator.clipboard.readText()")


@pytest.mark.matrix
def test_it_needs_no_script(walk: Callable[..., Page], teammate: Client) -> None:
    page = walk(teammate, MARCH, java_script_enabled=False)
    expect(page.locator("svg[role=img]")).to_be_visible()
    follow(page.get_by_label("Tables").get_by_role("link", name="Agents"))
    expect(page.get_by_role("link", name="GPTBot")).to_be_visible()
